import { beforeSignOut } from '../../../api/end-session';

interface PendingDeletion {
  partition: string;
  file: string;
  /** Shows the file again, and says no longer that it is deleted. */
  onUndo: () => void;
  /** Deletes the file now, by `commit`. */
  onHurry: () => void;
}

/**
 * Files that are hidden and will be deleted, as long as that can be undone. They are known here because a version that
 * is uploaded meanwhile must not be deleted with the one that was meant.
 */
function createPendingDeletions() {
  let pending: readonly PendingDeletion[] = [];
  /** Deletions that the server has not answered yet. */
  const running = new Set<Promise<unknown>>();

  const take = (partition: string, file: string): PendingDeletion | undefined => {
    const taken = pending.find((other) => other.partition === partition && other.file === file);
    if (taken !== undefined) pending = pending.filter((other) => other !== taken);
    return taken;
  };

  return {
    add(deletion: PendingDeletion) {
      take(deletion.partition, deletion.file);
      pending = [...pending, deletion];
    },
    filesOf: (partition: string): string[] =>
      pending.filter((deletion) => deletion.partition === partition).map(({ file }) => file),
    /** Answers whether the file has to be deleted now. */
    commit: (partition: string, file: string): boolean => take(partition, file) !== undefined,
    /** A deletion that was asked for, until the server has answered it. */
    follow(request: Promise<unknown>) {
      const answered: Promise<unknown> = request.catch(() => {}).then(() => running.delete(answered));
      running.add(answered);
    },
    /** Deletes at once whatever can still be undone; answers when the server has answered all. */
    async hurry(): Promise<void> {
      pending.forEach(({ onHurry }) => onHurry());
      await Promise.all(running);
    },
    /** Answers whether the file was to be deleted; it stays. */
    undo(partition: string, file: string): boolean {
      const taken = take(partition, file);
      taken?.onUndo();
      return taken !== undefined;
    },
  };
}

export const pendingDeletions = createPendingDeletions();
// Without a session they would be refused, and the files stay.
beforeSignOut(pendingDeletions.hurry);
