import { resolve } from 'node:path';
import { watch } from 'chokidar';
import { createHash } from 'node:crypto';
import type { CompiledRule, RuleMode } from './compiled-rule.js';
import type { SavedRuleStore } from '../../ports/saved-rules.js';
import type { SavedRuleSet } from '../../../schemas/signals/saved-rules.js';
import { loadRules } from './load-rules.js';
import { readSavedRules, withSavedRules } from './saved-rules.js';
import type { RuleFault } from './load-rules.js';

/** The rules in force, and what could not be used of the files. */
export interface RuleSet {
  rules: readonly CompiledRule[];
  /** Those of the files, also where a saved one takes their place. */
  ofFiles: readonly CompiledRule[];
  mode: RuleMode;
  faults: readonly RuleFault[];
  /** Changes with what the rules say, and with nothing else; each alert is stored with the one that was evaluated. */
  version: string;
  loadedAt: Date;
}

/** The same rules in the same order have the same version, on every gateway. */
function ruleSetVersion(mode: RuleMode, rules: readonly CompiledRule[]): string {
  const content = rules.map(({ name, enabled, watchers, filter }) => ({ name, enabled, watchers, filter }));
  return createHash('sha256')
    .update(JSON.stringify([mode, content]))
    .digest('hex')
    .slice(0, 12);
}

export interface RuleRegistry {
  current(): RuleSet;
  /** Reads the files now; a change of a file does the same soon after. Never fails. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface RuleRegistryOptions {
  directories: readonly string[];
  /** The main file, watched as well; null: there is none. */
  mainFile?: string | null;
  /** Mode and rules of the main file, with what of them matches nothing. @throws Error when it cannot be used */
  readMain(): Promise<{ mode: RuleMode; rules: CompiledRule[]; faults?: string[] }>;
  /** Rules that are saved over the API; left out: there are none. */
  saved?: Pick<SavedRuleStore, 'newest' | 'get'>;
  onChange?(set: RuleSet): void;
  now?: () => Date;
}

type Stamp = Pick<SavedRuleSet, 'version' | 'savedAt'>;

/** A restored set may have the number of the one before. */
function isSame(one: Stamp | null, other: Stamp | null): boolean {
  return one?.version === other?.version && one?.savedAt.getTime() === other?.savedAt.getTime();
}

/** An editor saves in several steps, and a rollout changes several files. */
const DEBOUNCE_MS = 300;
/** So often it is asked whether another gateway has saved rules. */
const LOOK_FOR_SAVED_MS = 2_000;
/** Folders of a config map change behind links that no watcher sees. */
const LOOK_AGAIN_MS = 30_000;

/**
 * Keeps the rules as their files have them while the gateway runs. What breaks keeps its last good form, and the fault
 * is shown: a broken file the rule that it held, a folder or main file that cannot be read all that came from it. Only
 * a file that is gone takes its rule along. A saved rule takes the place of one of the same name.
 * @throws Error as `readMain` and `saved` do, at the start only
 */
export async function openRuleRegistry(options: RuleRegistryOptions): Promise<RuleRegistry> {
  const now = options.now ?? (() => new Date());
  let main = await options.readMain();
  let ofFiles: CompiledRule[] = [];
  let saved: SavedRuleSet | null = (await options.saved?.get()) ?? null;
  let current: RuleSet | undefined;

  const readSaved = async (faults: RuleFault[]): Promise<readonly CompiledRule[]> => {
    try {
      if (options.saved !== undefined && !isSame(await options.saved.newest(), saved))
        saved = await options.saved.get();
    } catch {
      faults.push({ file: 'saved rules', message: 'they cannot be read; what they said before holds' });
    }
    if (saved === null) return [];
    const compiled = readSavedRules(saved);
    faults.push(...compiled.faults);
    return compiled.rules;
  };

  const read = async (): Promise<void> => {
    const faults: RuleFault[] = [];
    if (current !== undefined)
      try {
        main = await options.readMain();
      } catch (error) {
        faults.push({
          file: options.mainFile ?? '',
          message: `${error instanceof Error ? error.message : String(error)}; what it said before holds`,
        });
      }
    for (const message of main.faults ?? []) faults.push({ file: options.mainFile ?? '', message });
    const loaded = await loadRules({ directories: options.directories });
    const broken = (rule: CompiledRule): boolean =>
      loaded.faults.some(({ file }) => rule.file === file || rule.file?.startsWith(`${file}/`) === true) &&
      !loaded.rules.some(({ file }) => file === rule.file);
    const kept = ofFiles.filter(broken);
    ofFiles = [...loaded.rules, ...kept].sort(byFile(options.directories));
    faults.push(
      ...loaded.faults.map(({ file, message }) =>
        kept.some((rule) => rule.file === file)
          ? { file, message: `${message}; its last good form holds` }
          : { file, message },
      ),
    );
    const ofAll = [...main.rules, ...ofFiles];
    const rules = withSavedRules(ofAll, await readSaved(faults));
    const version = ruleSetVersion(main.mode, rules);
    const same =
      current?.version === version &&
      // Another version may say the same.
      JSON.stringify(current.ofFiles) === JSON.stringify(ofAll) &&
      JSON.stringify(current.faults) === JSON.stringify(faults);
    if (same) return;
    current = { rules, ofFiles: ofAll, mode: main.mode, faults, version, loadedAt: now() };
    options.onChange?.(current);
  };

  /** Whatever goes wrong after the start, the rules in force hold. */
  const keep = (error: unknown): void => {
    if (current === undefined) throw error;
    const message = `the rules could not be read: ${String(error)}; what they said before holds`;
    if (current.faults.length === 1 && current.faults[0]?.message === message) return;
    current = { ...current, faults: [{ file: 'rules', message }] };
    options.onChange?.(current);
  };

  let reading: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => (reading = reading.then(read).catch(keep));
  await reload();

  let timer: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), DEBOUNCE_MS);
  };
  const mainFile = options.mainFile ?? null;
  const watcher = watch([...options.directories, ...(mainFile === null ? [] : [mainFile])], {
    ignoreInitial: true,
    depth: 0,
  });
  watcher.on('all', soon);
  // What changed while the watcher was setting up is no event.
  watcher.on('ready', soon);
  // A folder that cannot be watched is looked at now and then.
  watcher.on('error', () => undefined);
  const again = setInterval(() => void reload(), LOOK_AGAIN_MS);
  again.unref();
  const lookForSaved = async (): Promise<void> => {
    if (options.saved !== undefined && !isSame(await options.saved.newest(), saved)) await reload();
  };
  // A store that is away for a moment is asked again; the look at the files tells of one that stays away.
  const forSaved = setInterval(() => void lookForSaved().catch(() => undefined), LOOK_FOR_SAVED_MS);
  forSaved.unref();

  return {
    current: () => current!,
    reload,
    async close() {
      clearTimeout(timer);
      clearInterval(again);
      clearInterval(forSaved);
      await watcher.close();
      await reading;
    },
  };
}

/** The folders in the order given, the files of each in name order: as they load. */
function byFile(directories: readonly string[]) {
  const folders = directories.map((directory) => `${resolve(directory)}/`);
  const place = ({ file }: CompiledRule): number =>
    folders.findIndex((folder) => file?.startsWith(folder) === true);
  return (a: CompiledRule, b: CompiledRule): number =>
    place(a) - place(b) || ((a.file ?? '') < (b.file ?? '') ? -1 : 1);
}
