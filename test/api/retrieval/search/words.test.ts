import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestIndex } from '../../../contracts/subject.js';
import { askJson } from '../../support/ask-json.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

/** What the real index finds by its words alone: every text that is asked for has distractors beside it. */
let gateway: Gateway;
let index: Awaited<ReturnType<typeof openTestIndex>>;
beforeAll(async () => {
  index = await openTestIndex();
  gateway = await startGateway({ adapt: (own) => ({ ...own, chunks: index.store }) });
  const fields = (await gateway.adapters.models.list('embedder')).map(({ vector_field, dimension }) => ({
    vectorField: vector_field ?? '',
    dimension: dimension ?? 0,
  }));
  await index.store.ensureSchema(fields);
  await indexText(gateway, { partition: 'p', fileId: 'lines' }, [
    'The system stopped with ERR-4012 after the restart.',
    'The system stopped with ERR-4013 after the restart.',
    'The system stopped with ERR-0412 and code 4012 was not the reason for the error of the system.',
    'The gateway at 10.0.0.7 answers slowly.',
    'The gateway at 10.0.0.70 answers slowly.',
    'The gateway at 10.7.0.0 answers slowly, and 10 of 0 tests fail.',
    'Write to marie.dupont@exemple.fr for keys.',
    'Write to marie.durand@exemple.fr for keys.',
    'Write to dupont.marie@example.com for keys, Marie Dupont.',
    'Order the valve 74-B12-009 from the store.',
    'Order the valve 74-B12-008 from the store.',
    'Order the valve 009-74-B12 from the store, 74 of them, B12 each.',
    'Les chevaux mangeaient des pâtisseries près de l’église.',
    'Le cheval de bois est dans la grange.',
    'La mère élève des élèves studieux à Orléans.',
    'The engineers were repairing leaking pumps.',
    'An engine is a machine.',
    'Der Müller wohnt in Zürich.',
    'Turbines of the harbour.',
    'Dredgers of the harbour.',
    'Gauge is read in winter, the glass stays.',
    'In winter the gauge glass stays shut, is read daily.',
    'L’impôt manque dans le pays, réforme viendra.',
    'Une réforme sur l’impôt manque, viendra dans le pays.',
  ]);
  for (const name of ['annual_report-2024.pdf', 'annual_report-2023.pdf', 'Übersicht Straße.pdf']) {
    const response = await gateway.call(
      'POST',
      `/indexer/partition/p/file/${encodeURIComponent(name.replace(/[^\w.-]/g, '_'))}`,
      {
        body: uploadForm(`content of ${name.length} ${name.slice(-8)}`, {
          filename: name.replace('.pdf', '.txt'),
        }),
      },
    );
    await publishTask(gateway, await taskIdOf(response), ['Nothing but figures.']);
  }
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await index.close();
});

/** The first hit, of the words alone: no cosine reaches 1 but of the very text. */
async function first(text: string): Promise<{ content: string; filename: string }> {
  const path = `/search/partition/p?text=${encodeURIComponent(text)}&top_k=3&similarity_threshold=1`;
  const [status, body] = await askJson(gateway, 'GET', path, { token: 'or-admin-0123456789abcdef' });
  expect(status).toBe(200);
  const [best] = body.documents;
  return { content: best?.content ?? '', filename: best?.metadata.filename ?? '' };
}

describe('words that stand together are found before the same words apart', () => {
  it('side by side', async () => {
    expect((await first('gauge glass')).content).toContain('the gauge glass');
  });

  it('with other small words between them', async () => {
    expect((await first('réforme de l’impôt')).content).toContain('réforme sur l’impôt');
  });
});

describe('exact identifiers are found before what looks like them', () => {
  it('error codes', async () => {
    expect((await first('ERR-4012')).content).toContain('with ERR-4012 ');
    expect((await first('what does err-4013 mean')).content).toContain('with ERR-4013 ');
  });

  it('addresses of machines', async () => {
    expect((await first('10.0.0.7')).content).toContain('at 10.0.0.7 ');
    expect((await first('which gateway is 10.0.0.70?')).content).toContain('at 10.0.0.70 ');
  });

  it('mail addresses', async () => {
    expect((await first('marie.dupont@exemple.fr')).content).toContain('marie.dupont@exemple.fr');
    expect((await first('MARIE.DURAND@EXEMPLE.FR')).content).toContain('marie.durand@exemple.fr');
  });

  it('part numbers with dashes', async () => {
    expect((await first('74-B12-009')).content).toContain('valve 74-B12-009 ');
    expect((await first('valve 74-b12-008')).content).toContain('valve 74-B12-008 ');
  });

  it('file names', async () => {
    expect((await first('annual_report-2024.txt')).filename).toBe('annual_report-2024.txt');
    expect((await first('annual_report-2023')).filename).toBe('annual_report-2023.txt');
    expect((await first('ubersicht strasse')).filename).toBe('Übersicht Straße.txt');
  });
});

describe('words are found in other forms, with and without accents', () => {
  it('in French', async () => {
    expect((await first('cheval manger pâtisserie')).content).toContain('chevaux mangeaient');
    expect((await first('patisseries eglise')).content).toContain('chevaux mangeaient');
    expect((await first('eleve orleans')).content).toContain('Orléans');
  });

  it('in English', async () => {
    expect((await first('engineer repairs a leaky pump')).content).toContain('repairing leaking pumps');
    expect((await first('leak pump')).content).toContain('repairing leaking pumps');
  });

  it('in a language without stemming', async () => {
    expect((await first('zurich muller')).content).toContain('Zürich');
    expect((await first('ZÜRICH')).content).toContain('Zürich');
  });
});

describe('a word that a question says often weighs more', () => {
  const filling =
    'Somebody asked yesterday whether anybody could possibly explain what exactly happened last summer:';

  it.each([
    ['turbines', 'dredgers'],
    ['dredgers', 'turbines'],
  ])('%s, however long the question is', async (often, once) => {
    expect((await first(`${often} ${once} ${often}`)).content.toLowerCase()).toContain(often);
    const asked = `${filling} ${once}, ${often}, more ${often}, and yet more ${often}?`;
    expect(asked.length).toBeGreaterThan(120);
    expect((await first(asked)).content.toLowerCase()).toContain(often);
  });
});

describe('letters whose accents are given apart (NFD)', () => {
  it('are found as the composed ones are', async () => {
    expect((await first('pâtisseries église'.normalize('NFD'))).content).toContain(
      'pâtisseries près de l’église',
    );
  });
});
