/** A parser opens no more of them again whose names and attributes are alike. */
const MAX_ALIKE = 3;

/**
 * Counts the elements of a tree that no tag of its own stands for: those that were left open, which a parser opens
 * again, all of them, in front of the next content.
 */
export class ReopenedElements {
  /** Opened again since the beginning. */
  total = 0;
  private size = 0;
  /** Names with attributes, as they were left open. */
  private readonly leftOpen = new Map<string, string[]>();
  private readonly alike = new Map<string, number>();
  /** How many elements stand open around those that are open again; null while these are not. */
  private around: number | null = null;

  leave(name: string, attributes: string): void {
    const key = `${name} ${attributes}`;
    const alike = this.alike.get(key) ?? 0;
    if (alike === MAX_ALIKE) return;
    this.alike.set(key, alike + 1);
    const keys = this.leftOpen.get(name) ?? [];
    keys.push(key);
    this.leftOpen.set(name, keys);
    this.size += 1;
  }

  /** An end tag of one that was left open. */
  close(name: string): void {
    const key = this.leftOpen.get(name)?.pop();
    if (key === undefined) return;
    this.alike.set(key, this.alike.get(key)! - 1);
    this.size -= 1;
  }

  /** Text, or an element in a line of it, within so many elements. */
  beforeContent(depth: number): void {
    if (this.around !== null) return;
    this.around = depth;
    this.total += this.size;
  }

  /** So many elements stay open: what was open again within the others is not any more. */
  cutTo(depth: number): void {
    if (this.around !== null && depth < this.around) this.around = null;
  }
}
