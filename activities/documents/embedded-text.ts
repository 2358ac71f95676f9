const MAX_HEADING_CHARACTERS = 300;

/**
 * What a chunk's vector is made of: its context, the headings it stands under, its text. A context is found by and
 * never shown, since it is a model's word and not the document's. Headings stand in front even where the text begins
 * with them: a title says in few words what the text is about.
 */
export function embeddedText(
  chunk: { headingPath: readonly string[]; text: string },
  context: string | null,
): string {
  const headings = [...chunk.headingPath.join(' > ')].slice(0, MAX_HEADING_CHARACTERS).join('');
  return [context ?? '', headings, chunk.text].filter((part) => part !== '').join('\n\n');
}
