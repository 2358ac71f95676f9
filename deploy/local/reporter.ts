import { setInterval, clearInterval } from 'node:timers';

/** Tells a person what is being done, for how long, and roughly what is left. */
export interface Reporter {
  /** A step that takes a while; it ends with the next `phase`, `done` or `gone` of the same subject. */
  phase(subject: string, text: string, expectedSeconds?: number): void;
  /** What the step is at just now: asked whenever the step is shown, until it ends or null is given. */
  detail(subject: string, read: (() => string | null) | null): void;
  done(subject: string, text: string): void;
  /** The subject's step ended without a word: it failed or was stopped, and someone else says so. */
  gone(subject: string): void;
  say(text: string): void;
  close(): void;
}

interface Phase {
  readonly text: string;
  readonly began: number;
  readonly expected: number | undefined;
}

/** Where the width of the terminal is not known. */
const USUAL_WIDTH = 120;
/** In less room than this the end of a tool's log says nothing. */
const MIN_DETAIL = 16;

/**
 * On a terminal: lasting lines for what is done, and one line that is redrawn for what is under way. Otherwise plain
 * lines only, a reminder every 15 seconds, so that a log of a build shows that it lives.
 */
export function createReporter(): Reporter {
  const phases = new Map<string, Phase>();
  const details = new Map<string, () => string | null>();
  const out = process.stdout;
  const live = out.isTTY;
  const began = Date.now();
  let ticks = 0;

  const line = (text: string) => out.write(live ? `\r\x1b[K${text}\n` : `${text}\n`);
  const step = ([subject, phase]: [string, Phase]): Step => ({
    text: `${subject}: ${describe(phase)}`,
    detail: details.get(subject)?.() ?? null,
  });
  const draw = () => {
    const width = (out.columns || 80) - 1;
    if (live && phases.size > 0) out.write(`\r\x1b[K${inOneLine([...phases].map(step), width)}`);
  };
  const timer = setInterval(() => {
    ticks += 1;
    if (live) draw();
    else if (ticks % 15 === 0) {
      for (const phase of phases) line(`    … ${inOneLine([step(phase)], USUAL_WIDTH)}`);
    }
  }, 1000);
  timer.unref();

  return {
    phase(subject, text, expected) {
      const known = phases.get(subject);
      if (known?.text === text) return;
      details.delete(subject);
      phases.set(subject, { text, began: Date.now(), expected });
      if (!live)
        line(`  … ${subject}: ${text}${expected && expected >= 10 ? ` (about ${clock(expected)})` : ''}`);
      draw();
    },
    detail(subject, read) {
      if (read === null) details.delete(subject);
      else details.set(subject, read);
    },
    done(subject, text) {
      details.delete(subject);
      const phase = phases.get(subject);
      phases.delete(subject);
      const took = phase ? ` (${clock((Date.now() - phase.began) / 1000)})` : '';
      line(`  ✓ ${subject}: ${text}${took}`);
      draw();
    },
    gone(subject) {
      details.delete(subject);
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

/** An estimate that has passed is not mentioned any more: how long it still takes is then unknown. */
function describe({ text, began, expected = 0 }: Phase): string {
  const seconds = (Date.now() - began) / 1000;
  const left = Math.round(expected - seconds);
  return `${text} ${clock(seconds)}${left > 0 ? `, about ${clock(left)} left` : ''}`;
}

interface Step {
  readonly text: string;
  readonly detail: string | null;
}

/** The steps first, and in the room that they leave, in equal parts, what each is at just now. */
export function inOneLine(steps: readonly Step[], width: number): string {
  const taken = steps.map(({ text }) => text).join(' · ').length;
  const detailed = steps.filter(({ detail }) => detail !== null).length;
  const room = Math.floor((width - taken) / Math.max(1, detailed)) - ' ()'.length;
  const shown = steps.map(({ text, detail }) =>
    detail === null || room < MIN_DETAIL ? text : `${text} (${shorten(detail, room)})`,
  );
  return shown.join(' · ').slice(0, width);
}

/** Keeps the beginning and the end: an address begins with what it is and ends with what it names. */
function shorten(text: string, room: number): string {
  if (text.length <= room) return text;
  const end = Math.floor((room - 1) / 2);
  return `${text.slice(0, room - 1 - end)}…${text.slice(text.length - end)}`;
}

/** 8.4 → "8 s", 75 → "1:15 min" */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
}
