interface PendingDeletion {
  partition: string;
  file: string;
  /** Shows the file again, and says no longer that it is deleted. */
  onUndo: () => void;
}

/**
 * Files that are hidden and will be deleted, as long as that can be undone. They are known here because a version that
 * is uploaded meanwhile must not be deleted with the one that was meant.
 */
function createPendingDeletions() {
  let pending: readonly PendingDeletion[] = [];

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
    /** Answers whether the file was to be deleted; it stays. */
    undo(partition: string, file: string): boolean {
      const taken = take(partition, file);
      taken?.onUndo();
      return taken !== undefined;
    },
  };
}

export const pendingDeletions = createPendingDeletions();
