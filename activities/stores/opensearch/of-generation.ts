/** The chunks of one version of a file. */
export function ofGeneration({ fileKey, generation }: { fileKey: string; generation: number }): object {
  return {
    bool: { filter: [{ term: { file_key: fileKey } }, { term: { generation } }] },
  };
}
