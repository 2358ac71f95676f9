import { setInterval, clearInterval } from 'node:timers';

/** Tells a person what is being done, for how long, and roughly what is left. */
export interface Reporter {
  /** A step that takes a while; it ends with the next `phase`, `done` or `gone` of the same subject. */
  phase(subject: string, text: string, expectedSeconds?: number): void;
  /** How far the subject's step has come. */
  progress(subject: string, text: string): void;
  done(subject: string, text: string): void;
  /** The subject's step ended without a word: it failed or was stopped, and someone else says so. */
  gone(subject: string): void;
  say(text: string): void;
  close(): void;
}

interface Phase {
  text: string;
  progress?: string;
  began: number;
  expected: number | undefined;
}

/**
 * On a terminal: lasting lines for what is done, and one line that is redrawn for what is under way. Otherwise plain
 * lines only, a reminder every 15 seconds, so that a log of a build shows that it lives.
 */
export function createReporter(out: NodeJS.WriteStream = process.stdout): Reporter {
  const phases = new Map<string, Phase>();
  const live = out.isTTY === true;
  const began = Date.now();
  let ticks = 0;

  const line = (text: string) => out.write(live ? `\r\x1b[K${text}\n` : `${text}\n`);
  const status = () => [...phases].map(([subject, phase]) => `${subject}: ${describe(phase)}`);
  const draw = () => {
    if (live && phases.size > 0)
      out.write(
        `\r\x1b[K${status()
          .join(' · ')
          .slice(0, (out.columns || 80) - 1)}`,
      );
  };
  const timer = setInterval(() => {
    ticks += 1;
    if (live) draw();
    else if (ticks % 15 === 0) for (const text of status()) line(`    … ${text}`);
  }, 1000);
  timer.unref();

  return {
    phase(subject, text, expected) {
      const known = phases.get(subject);
      if (known?.text === text) return;
      phases.set(subject, { text, began: Date.now(), expected });
      if (!live)
        line(`  … ${subject}: ${text}${expected && expected >= 10 ? ` (about ${clock(expected)})` : ''}`);
      draw();
    },
    progress(subject, text) {
      const phase = phases.get(subject);
      if (phase) phase.progress = text;
    },
    done(subject, text) {
      const phase = phases.get(subject);
      phases.delete(subject);
      const took = phase ? ` (${clock((Date.now() - phase.began) / 1000)})` : '';
      line(`  ✓ ${subject}: ${text}${took}`);
      draw();
    },
    gone(subject) {
      phases.delete(subject);
    },
    say(text) {
      line(text);
      draw();
    },
    close() {
      clearInterval(timer);
      if (live && phases.size > 0) line(`  stopped after ${clock((Date.now() - began) / 1000)}`);
      phases.clear();
    },
  };
}

function describe({ text: step, progress, began, expected }: Phase): string {
  const text = progress === undefined ? step : `${step}, ${progress},`;
  const seconds = (Date.now() - began) / 1000;
  if (expected === undefined) return `${text} ${clock(seconds)}`;
  const left = expected - seconds;
  return `${text} ${clock(seconds)}, ${left > 0 ? `about ${clock(left)} left` : 'longer than usual'}`;
}

/** 8.4 → "8 s", 75 → "1:15 min" */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
}
