/** As browsers did before they had `navigator.clipboard`: what is marked is copied, in a field that is out of sight. */
function copyMarked(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}

/** False where the browser lets no page copy. On plain HTTP, other than this machine's own, it has no `clipboard`. */
export async function copyToClipboard(text: string): Promise<boolean> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return copyMarked(text);
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    return copyMarked(text);
  }
}
