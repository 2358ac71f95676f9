const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Bytes as clients show them: `2.40 MB`, in steps of 1,024. */
export function formatFileSize(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size.toFixed(2)} ${UNITS[unit]}`;
}
