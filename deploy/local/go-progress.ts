/** How far `go build -v` or `go install -v` is: it names each module that it downloads and each package it compiles. */
export function goProgress(written: string): string | null {
  const lines = written.split('\n');
  const downloads = lines.filter((line) => line.startsWith('go: downloading ')).length;
  const packages = lines.filter((line) => /^[A-Za-z][\w.~-]*(?:\/[\w.~-]+)*$/.test(line)).length;
  if (packages > 0) return `${packages} packages compiled`;
  return downloads > 0 ? `${downloads} modules downloaded` : null;
}
