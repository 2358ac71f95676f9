import type { FileRow } from '../queries';
import { FileWorkspaces } from './file-workspaces';
import { MetadataEditor } from './metadata-editor';
import { MoveFile } from './move-file';

export type Dialog = 'metadata' | 'move' | 'workspaces';

interface Props {
  kind: Dialog;
  partition: string;
  row: FileRow;
  onClose: () => void;
}

/** What is asked or changed of one file beyond its row. */
export function FileDialog({ kind, partition, row, onClose }: Props) {
  const { file_id: file } = row;
  switch (kind) {
    case 'metadata':
      return <MetadataEditor partition={partition} file={row} onClose={onClose} />;
    case 'move':
      return <MoveFile from={{ partition, file }} onClose={onClose} />;
    case 'workspaces':
      return <FileWorkspaces partition={partition} file={file} onClose={onClose} />;
  }
}
