import { describe, expect, test } from '@jest/globals';
import { createExtractiveModel } from '../../../../activities/models/builtin/extractive-model.js';
import { listSourceBlocks, writeSourceBlock } from '../../../../activities/models/builtin/source-blocks.js';

const model = createExtractiveModel({ endpointName: 'builtin-extractive', contextTokens: 8192 });

async function ask(question: string, sources: readonly { heading: string; text: string }[]): Promise<string> {
  const blocks = sources.map((source, index) => writeSourceBlock({ number: index + 1, ...source }));
  const { content } = await model.complete(
    [
      { role: 'system', content: listSourceBlocks(blocks) },
      { role: 'user', content: question },
    ],
    {},
  );
  return content;
}

describe('what a quote of the built-in model must hold', () => {
  const KINDS = [
    {
      heading: 'kinds.md',
      text:
        'The quarry of Dunmere, once a pit of the Holt canal, was reopened in late May. Wagons leave it up to four times a day. ' +
        'The main shaft is closed in heavy rain, as the pumps cannot keep up. The lift climbs twice as fast as the old hoist. ' +
        'It weighs 840 kilograms. Crews rest for an hour at noon. The walls are lined with slate by a mason. ' +
        'Storage tanks drain until dusk. The kiln is fired at 900 degrees. The old rails were replaced in 1907. ' +
        'The tram number 5 halts at the gate. A flood ruined the stores when a sluice broke. The visitors pay 30 guilders.',
    },
    {
      heading: 'genres.md',
      text:
        'La carrière de Vauplan recule de trois mètres par an. Le four est chauffé à 870 degrés. ' +
        'La chapelle a été rénovée en 1954. La scierie ouvre à sept heures.',
    },
  ];

  test.each([
    // A name of a thing is no person, a month is no place, and "up to four" is no purpose.
    'Who reopened the quarry of Dunmere?',
    'Where was the quarry reopened?',
    'Why do wagons leave the quarry?',
    'How long is the lift of the quarry?',
    'How fast do wagons leave the quarry?',
    'At what temperature do crews rest?',
    'What is the name of the mason?',
    'How much is a ride in the lift?',
    // "When a sluice broke" tells of the flood, not of the sluice.
    'When did the sluice break?',
    'How do I start the lift?',
    "Quelle est l'épaisseur de la carrière de Vauplan ?",
    'À quelle vitesse la chapelle a-t-elle été rénovée ?',
  ])('refuses what is of another kind: %s', async (question) => {
    expect(await ask(question, KINDS)).toMatch(/\[Sources: none\]$/);
  });

  test.each([
    ['When is the main shaft closed?', /in heavy rain/],
    ['Why is the shaft closed in rain?', /as the pumps/],
    ['How fast does the lift climb?', /twice as fast/],
    ['How heavy is the lift?', /840 kilograms/],
    ['How long do crews rest?', /an hour/],
    ['How long do the tanks drain?', /until dusk/],
    ['How hot is the kiln?', /900 degrees/],
    ['Which tram halts at the gate?', /number 5/],
    ['What caused the flood?', /when a sluice broke/],
    ['By whom were the walls lined with slate?', /by a mason/],
    ['How much do visitors pay?', /30 guilders/],
    ['À quelle température le four est-il chauffé ?', /870 degrés/],
  ])('answers %s by what is of its kind', async (question, answer) => {
    expect(await ask(question, KINDS)).toMatch(answer);
  });

  const DEMANDS = [
    {
      heading: 'demands.md',
      text:
        'The Pellow mill was replaced in 1911 by Edith Crane. Grain is stored in the loft above the wheel. ' +
        'Barges pay a duty of 12 pence at the weir. The weir opens at eight in the morning. ' +
        'Dr. Ivo Senn has headed the archive since 2015. The nephew of the miller Rolf Baum lives in the barn. ' +
        'The barn sells cider to two inns. Dark cider keeps longest. The scale is made of brass. ' +
        'It was agreed to ask four masons for a price.',
    },
    {
      heading: 'exigences.md',
      text: 'Le pavillon de Corvel a été remplacé en 1923 par Lise Amiel. La buvette ferme à dix heures du soir.',
    },
  ];

  test.each([
    // Another deed, verb or office than the one that is asked about.
    'Who designed the Pellow mill?',
    'When was the Pellow mill built?',
    'Where is grain sold?',
    'What does the barn brew?',
    'Who is the treasurer of the archive of Pellow?',
    'Who won the Pellow mill?',
    'Qui a dessiné le pavillon de Corvel ?',
    // Another class, the contrary, another time, less than the most.
    'What duty do ferries pay at the weir?',
    'When does the weir close?',
    'Who headed the archive before 2015?',
    'Which inn buys the most cider?',
    'À quelle heure la buvette ouvre-t-elle ?',
    // Half of what is asked by yes or no, and a title, say nothing.
    'Is the scale waterproof?',
    'La buvette est-elle chauffée ?',
    'Where did Dr. Senn study law?',
    'How sharp is the scale?',
  ])('refuses a sentence that lacks what the question turns upon: %s', async (question) => {
    expect(await ask(question, DEMANDS)).toMatch(/\[Sources: none\]$/);
  });

  test.each([
    ['When was the Pellow mill replaced?', /1911/],
    ['Where is grain stored?', /in the loft/],
    ['What does the barn sell?', /cider to two inns/],
    ['What duty do barges pay?', /12 pence/],
    ['When does the weir open?', /at eight/],
    ['Who has headed the archive since 2015?', /Ivo Senn/],
    ['Which cider keeps longest?', /Dark cider/],
    ['Is the scale made of brass?', /made of brass/],
    ['How many masons will be asked for a price?', /four masons/],
    ['À quelle heure la buvette ferme-t-elle ?', /dix heures/],
  ])('answers %s by a sentence that has it', async (question, answer) => {
    expect(await ask(question, DEMANDS)).toMatch(answer);
  });

  test('prefers a short sentence that holds the answer to a longer one that says less', async () => {
    const fair = [
      {
        heading: 'fair.md',
        text: 'The fair ends on 3 May. On 28 April traders of the fair put up tents along the river.',
      },
    ];
    expect(await ask('When does the fair end?', fair)).toMatch(/^The fair ends on 3 May\./);
  });
});
