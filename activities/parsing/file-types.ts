import { AppError } from '../../schemas/app-error.js';

export type FileKind = 'txt' | 'md' | 'html' | 'pdf' | 'docx';

interface FileType {
  kind: FileKind;
  extensions: string[];
  /** The first is the usual one. */
  mimetypes: string[];
}

const FILE_TYPES: FileType[] = [
  { kind: 'txt', extensions: ['txt'], mimetypes: ['text/plain'] },
  { kind: 'md', extensions: ['md'], mimetypes: ['text/markdown', 'text/x-markdown'] },
  { kind: 'html', extensions: ['html', 'htm'], mimetypes: ['text/html', 'application/xhtml+xml'] },
  { kind: 'pdf', extensions: ['pdf'], mimetypes: ['application/pdf'] },
  {
    kind: 'docx',
    extensions: ['docx'],
    mimetypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  },
];

const byExtension = new Map(FILE_TYPES.flatMap((t) => t.extensions.map((e) => [e, t.kind] as const)));
const byMimetype = new Map(FILE_TYPES.flatMap((t) => t.mimetypes.map((m) => [m, t.kind] as const)));

/** Extensions (without dot) and MIME types that can be indexed, as `GET /indexer/supported/types` answers them. */
export function supportedTypes(): { extensions: string[]; mimetypes: string[] } {
  return { extensions: [...byExtension.keys()], mimetypes: [...byMimetype.keys()] };
}

/** Lower-case extension of a file name without its dot; empty when it has none. */
function fileExtension(filename: string): string {
  return /\.([^./\\]+)$/.exec(filename.trim())?.[1]?.toLowerCase() ?? '';
}

/**
 * Chooses the parser by `metadata.mimetype` when the client gave one, else by the extension.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE (415) when that one is unknown
 */
export function resolveFileKind(file: { filename: string; mimetype?: string | null | undefined }): FileKind {
  const mimetype = file.mimetype?.split(';', 1)[0]?.trim().toLowerCase();
  const extension = fileExtension(file.filename);
  const kind = mimetype ? byMimetype.get(mimetype) : byExtension.get(extension);
  if (kind) return kind;
  const given = mimetype
    ? `MIME type '${mimetype}'`
    : extension
      ? `extension '.${extension}'`
      : 'no extension';
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Unsupported file type (${given}). Supported extensions: ${[...byExtension.keys()].join(', ')}.`,
  );
}
