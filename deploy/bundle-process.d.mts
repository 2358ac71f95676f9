export function bundleProcess(main: string, external: string[]): Promise<void>;
