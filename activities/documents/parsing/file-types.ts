import { AppError } from '../../../schemas/app-error.js';

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

/** Characters of a client's text that an error message repeats. */
const MAX_QUOTED = 200;

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

/** The parser of a MIME type, whose parameters and case do not matter; undefined when there is none. */
export function kindOfMimetype(mimetype: string | null | undefined): FileKind | undefined {
  return byMimetype.get(mimetype?.split(';', 1)[0]?.trim().toLowerCase() ?? '');
}

/**
 * Chooses the parser by the extension. A MIME type stands in where the extension is missing or unknown: browsers send
 * one with every upload, and it is often `application/octet-stream`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE (415) when neither is known
 */
export function resolveFileKind(file: { filename: string; mimetype?: string | null | undefined }): FileKind {
  const extension = fileExtension(file.filename);
  const kind = byExtension.get(extension) ?? kindOfMimetype(file.mimetype);
  if (kind) return kind;
  const given = [
    extension ? `extension '.${extension.slice(0, MAX_QUOTED)}'` : 'no extension',
    ...(file.mimetype ? [`MIME type '${file.mimetype.slice(0, MAX_QUOTED)}'`] : []),
  ];
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Unsupported file type (${given.join(', ')}). Supported extensions: ${[...byExtension.keys()].join(', ')}.`,
  );
}
