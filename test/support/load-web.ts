/**
 * A module of the console, by its path below `web/src`. The console is compiled apart, for browsers, so that its types
 * are not known here: a test says what it uses of the module.
 */
export async function loadWeb<T>(path: string): Promise<T> {
  const { pathname } = new URL(`../../web/src/${path}.ts`, import.meta.url);
  return (await import(pathname)) as T;
}
