import { AppError } from '../../../schemas/app-error.js';

/** Pictures, read by OCR. */
export type ImageKind = 'png' | 'jpeg' | 'gif' | 'webp' | 'bmp' | 'tiff';

/** Audio and video, transcribed by a model. */
const MEDIA = ['wav', 'mp3', 'flac', 'ogg', 'aac', 'm4a', 'wma', 'mp4', 'webm', 'mkv', 'mov', 'flv'] as const;
export type MediaKind = (typeof MEDIA)[number];

export type FileKind =
  | ('txt' | 'md' | 'html' | 'pdf' | 'docx' | 'csv' | 'tsv' | 'json' | 'jsonl' | 'xml' | 'svg' | 'code')
  | ('xlsx' | 'xls' | 'ods' | 'pptx' | 'odt' | 'odp' | 'epub')
  | ('eml' | 'msg' | 'doc' | 'rtf' | 'ppt' | 'zip')
  | ImageKind
  | MediaKind;

interface FileType {
  kind: FileKind;
  extensions: string[];
  /** The first is the usual one, and of this kind alone. */
  mimetypes: string[];
}

const FILE_TYPES: FileType[] = [
  { kind: 'txt', extensions: ['txt', 'text', 'log'], mimetypes: ['text/plain'] },
  { kind: 'md', extensions: ['md', 'markdown'], mimetypes: ['text/markdown', 'text/x-markdown'] },
  {
    kind: 'html',
    extensions: ['html', 'htm', 'xhtml'],
    mimetypes: ['text/html', 'application/xhtml+xml'],
  },
  { kind: 'pdf', extensions: ['pdf'], mimetypes: ['application/pdf'] },
  {
    kind: 'docx',
    extensions: ['docx'],
    mimetypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  },
  { kind: 'csv', extensions: ['csv'], mimetypes: ['text/csv', 'application/csv'] },
  { kind: 'tsv', extensions: ['tsv', 'tab'], mimetypes: ['text/tab-separated-values'] },
  { kind: 'json', extensions: ['json', 'geojson'], mimetypes: ['application/json', 'application/geo+json'] },
  {
    kind: 'jsonl',
    extensions: ['jsonl', 'ndjson'],
    mimetypes: ['application/jsonl', 'application/x-ndjson', 'application/x-jsonlines'],
  },
  { kind: 'xml', extensions: ['xml'], mimetypes: ['application/xml', 'text/xml'] },
  { kind: 'svg', extensions: ['svg'], mimetypes: ['image/svg+xml'] },
  {
    kind: 'xlsx',
    extensions: ['xlsx', 'xlsm'],
    mimetypes: [
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.ms-excel.sheet.macroenabled.12',
    ],
  },
  { kind: 'xls', extensions: ['xls'], mimetypes: ['application/vnd.ms-excel'] },
  { kind: 'ods', extensions: ['ods'], mimetypes: ['application/vnd.oasis.opendocument.spreadsheet'] },
  {
    kind: 'pptx',
    extensions: ['pptx'],
    mimetypes: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  },
  { kind: 'odt', extensions: ['odt'], mimetypes: ['application/vnd.oasis.opendocument.text'] },
  { kind: 'odp', extensions: ['odp'], mimetypes: ['application/vnd.oasis.opendocument.presentation'] },
  { kind: 'epub', extensions: ['epub'], mimetypes: ['application/epub+zip'] },
  { kind: 'eml', extensions: ['eml'], mimetypes: ['message/rfc822'] },
  { kind: 'msg', extensions: ['msg'], mimetypes: ['application/vnd.ms-outlook'] },
  { kind: 'doc', extensions: ['doc'], mimetypes: ['application/msword'] },
  { kind: 'rtf', extensions: ['rtf'], mimetypes: ['application/rtf', 'text/rtf'] },
  { kind: 'ppt', extensions: ['ppt', 'pps'], mimetypes: ['application/vnd.ms-powerpoint'] },
  { kind: 'zip', extensions: ['zip'], mimetypes: ['application/zip', 'application/x-zip-compressed'] },
  { kind: 'png', extensions: ['png'], mimetypes: ['image/png'] },
  { kind: 'jpeg', extensions: ['jpg', 'jpeg'], mimetypes: ['image/jpeg', 'image/jpg'] },
  { kind: 'gif', extensions: ['gif'], mimetypes: ['image/gif'] },
  { kind: 'webp', extensions: ['webp'], mimetypes: ['image/webp'] },
  { kind: 'bmp', extensions: ['bmp'], mimetypes: ['image/bmp', 'image/x-ms-bmp'] },
  { kind: 'tiff', extensions: ['tif', 'tiff'], mimetypes: ['image/tiff'] },
  { kind: 'wav', extensions: ['wav'], mimetypes: ['audio/wav', 'audio/x-wav', 'audio/wave'] },
  { kind: 'mp3', extensions: ['mp3', 'mpga'], mimetypes: ['audio/mpeg', 'audio/mp3'] },
  { kind: 'flac', extensions: ['flac'], mimetypes: ['audio/flac', 'audio/x-flac'] },
  { kind: 'ogg', extensions: ['ogg', 'oga', 'opus'], mimetypes: ['audio/ogg', 'audio/opus'] },
  { kind: 'aac', extensions: ['aac'], mimetypes: ['audio/aac', 'audio/x-aac'] },
  { kind: 'm4a', extensions: ['m4a'], mimetypes: ['audio/mp4', 'audio/x-m4a'] },
  { kind: 'wma', extensions: ['wma'], mimetypes: ['audio/x-ms-wma'] },
  { kind: 'mp4', extensions: ['mp4', 'm4v'], mimetypes: ['video/mp4', 'video/x-m4v'] },
  { kind: 'webm', extensions: ['webm', 'weba'], mimetypes: ['video/webm', 'audio/webm'] },
  { kind: 'mkv', extensions: ['mkv'], mimetypes: ['video/x-matroska'] },
  { kind: 'mov', extensions: ['mov'], mimetypes: ['video/quicktime'] },
  { kind: 'flv', extensions: ['flv'], mimetypes: ['video/x-flv'] },
  {
    kind: 'code',
    extensions: [
      'c',
      'h',
      'cc',
      'cpp',
      'cxx',
      'hpp',
      'cs',
      'java',
      'kt',
      'kts',
      'scala',
      'groovy',
      'swift',
      'm',
      'mm',
      'go',
      'rs',
      'zig',
      'd',
      'dart',
      'js',
      'mjs',
      'cjs',
      'jsx',
      'ts',
      'mts',
      'cts',
      'tsx',
      'vue',
      'svelte',
      'py',
      'pyi',
      'rb',
      'php',
      'pl',
      'pm',
      'lua',
      'r',
      'jl',
      'ex',
      'exs',
      'erl',
      'hs',
      'ml',
      'fs',
      'clj',
      'sh',
      'bash',
      'zsh',
      'fish',
      'ps1',
      'bat',
      'cmd',
      'sql',
      'graphql',
      'proto',
      'css',
      'scss',
      'less',
      'yaml',
      'yml',
      'toml',
      'ini',
      'cfg',
      'conf',
      'properties',
      'tf',
      'gradle',
      'cmake',
      'mk',
      'patch',
      'diff',
      'tex',
      'rst',
      'adoc',
      'org',
      'vb',
      'f90',
      'asm',
      's',
      'v',
      'vhd',
      'sol',
    ],
    mimetypes: [
      'text/x-source',
      'text/x-python',
      'text/javascript',
      'application/javascript',
      'text/typescript',
      'text/css',
      'text/x-c',
      'text/x-c++',
      'text/x-java-source',
      'text/x-go',
      'text/x-rust',
      'text/x-ruby',
      'application/x-sh',
      'text/x-shellscript',
      'application/sql',
      'text/x-sql',
      'application/x-php',
      'application/yaml',
      'application/x-yaml',
      'text/yaml',
      'application/toml',
      'text/x-diff',
    ],
  },
];

/** What is asked for often and is not read, by extension: what a person can do instead. */
const ADVICE = new Map<string, string>([
  ...['wps', 'pages', 'wpd', 'key'].map((e) => [e, 'Save it as .docx, .pptx or .pdf.'] as const),
  ['heic', 'Save it as .png or .jpg.'],
  ...['rar', '7z', 'tar', 'gz', 'tgz', 'bz2', 'xz'].map(
    (e) => [e, 'Unpack it, or pack it as .zip.'] as const,
  ),
]);

/** Characters of a client's text that an error message repeats. */
const MAX_QUOTED = 200;

const byExtension = new Map(FILE_TYPES.flatMap((t) => t.extensions.map((e) => [e, t.kind] as const)));
const byMimetype = new Map(FILE_TYPES.flatMap((t) => t.mimetypes.map((m) => [m, t.kind] as const)));

const IMAGE_KINDS: ReadonlySet<FileKind> = new Set(['png', 'jpeg', 'gif', 'webp', 'bmp', 'tiff']);

const MEDIA_KINDS: ReadonlySet<FileKind> = new Set(MEDIA);

/** Whether a kind is transcribed by a model instead of being read by a parser. */
export function isMediaKind(kind: FileKind): kind is MediaKind {
  return MEDIA_KINDS.has(kind);
}

/** What this server can read beyond what it always can: why not, with what to do about it, or null when it can. */
export interface Abilities {
  /** Pictures. */
  noOcr: string | null;
  /** Audio and video. */
  noTranscription: string | null;
  /** Older formats of office programs. */
  noLibreOffice: string | null;
}

const EVERYTHING: Abilities = { noOcr: null, noTranscription: null, noLibreOffice: null };

/** Why a kind cannot be read by a server of these abilities; null when it can. */
function refusal(kind: FileKind, abilities: Abilities): string | null {
  const { noOcr, noTranscription, noLibreOffice } = abilities;
  if (isMediaKind(kind)) return noTranscription;
  if (kind === 'rtf' || kind === 'ppt') return noLibreOffice;
  return IMAGE_KINDS.has(kind) ? noOcr : null;
}

/** Extensions (without dot) and MIME types that can be indexed, as `GET /indexer/supported/types` answers them. */
export function supportedTypes(abilities: Abilities = EVERYTHING): {
  extensions: string[];
  mimetypes: string[];
} {
  const readable = (known: Map<string, FileKind>): string[] =>
    [...known].filter(([, kind]) => refusal(kind, abilities) === null).map(([name]) => name);
  return { extensions: readable(byExtension), mimetypes: readable(byMimetype) };
}

/** Read by a few lines of ours alone. */
export const PLAIN_KINDS: ReadonlySet<FileKind> = new Set([
  'txt',
  'md',
  'csv',
  'tsv',
  'json',
  'jsonl',
  'code',
]);

/** The type that is put down for a kind; `kindOfMimetype` gives the kind back. */
export function mimetypeOfKind(kind: FileKind): string {
  return FILE_TYPES.find((type) => type.kind === kind)!.mimetypes[0]!;
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
 * @throws AppError UNSUPPORTED_MEDIA_TYPE (415) when neither is known, or the server has not what it takes
 */
export function resolveFileKind(
  file: { filename: string; mimetype?: string | null | undefined },
  abilities: Abilities = EVERYTHING,
): FileKind {
  const extension = fileExtension(file.filename);
  const kind = byExtension.get(extension) ?? kindOfMimetype(file.mimetype);
  const reason = kind === undefined ? null : refusal(kind, abilities);
  if (kind !== undefined && reason === null) return kind;
  const given = [
    extension ? `extension '.${extension.slice(0, MAX_QUOTED)}'` : 'no extension',
    ...(file.mimetype ? [`MIME type '${file.mimetype.slice(0, MAX_QUOTED)}'`] : []),
  ];
  const advice = reason ?? ADVICE.get(extension);
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Unsupported file type (${given.join(', ')}).${advice === undefined ? '' : ` ${advice}`} ` +
      'GET /indexer/supported/types lists the extensions that this server reads.',
  );
}
