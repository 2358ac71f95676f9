import { describe, expect, test } from '@jest/globals';
import { checkAnswer } from '../../../../activities/retrieval/verification/check-answer.js';
import { isInOtherLanguage } from '../../../../activities/text/other-language.js';
import { readPairs } from '../../../support/statement-pairs.js';

async function check(source: string, said: string): Promise<unknown[]> {
  const [checked] = await checkAnswer(said, [source]);
  return [checked!.supported, checked!.fault];
}

describe('a sentence in a language that the rules do not know is unchecked', () => {
  test.each([
    ['Das Gerät darf nicht im Freien verwendet werden.', 'Das Gerät darf im Freien verwendet werden.'],
    ['Der Vertrag verlängert sich nicht automatisch.', 'Der Vertrag verlängert sich automatisch.'],
    ['Dieses Gerät hat kein WLAN.', 'Dieses Gerät hat WLAN.'],
    ['Der Zugang ist verboten für Kinder.', 'Der Zugang ist erlaubt für Kinder.'],
    ['Das Gerät unterstützt das WLAN nicht.', 'Das Gerät unterstützt das WLAN.'],
    ['Nie darf das Gerät im Freien verwendet werden.', 'Das Gerät im Freien verwendet werden.'],
    ['Der Betrieb ist ab -20 Grad für alle möglich.', 'Der Betrieb ist ab 20 Grad für alle möglich.'],
    ['O contrato não é renovado automaticamente.', 'O contrato é renovado automaticamente.'],
    ['Het apparaat mag niet buiten worden gebruikt.', 'Het apparaat mag buiten worden gebruikt.'],
    ['El equipo nunca está conectado a la red.', 'El equipo está conectado a la red.'],
    ['Устройство не поддерживает беспроводную сеть.', 'Устройство поддерживает беспроводную сеть.'],
    ['기기는 방수가 되지 않습니다.', '기기는 방수가 됩니다.'],
    ['El contrato no incluye España.', 'El contrato incluye España.'],
    ['Müller ist nicht Chef.', 'Müller ist Chef.'],
    ['Gerät und Kabel sind nicht defekt.', 'Gerät und Kabel sind defekt.'],
    ['Urządzenie nie jest wodoodporne.', 'Urządzenie jest wodoodporne.'],
    ['The warranty is two years.', 'Die Garantie für das Gerät ist zwei Jahre.'],
  ])('%s - %s', async (source, said) => {
    expect(await check(source, said)).toEqual([false, 'unchecked']);
  });
});

describe('but supported where it stands in its source as it is', () => {
  test.each([
    [
      'Achtung! Das Gerät darf nicht im\nFreien verwendet werden. Ende.',
      'Das Gerät darf nicht im Freien verwendet werden.',
    ],
    [
      'Technik\n\n- Der Vertrag verlängert sich nicht.\n- Ende',
      '- **Der Vertrag verlängert sich nicht.** [Source 1]',
    ],
    ['Текст. Устройство не поддерживает сеть. Конец.', 'Устройство не поддерживает сеть.'],
    ['기기는 방수가 되지 않습니다.', '기기는 방수가 되지 않습니다.'],
  ])('%j - %s', async (source, said) => {
    expect(await check(source, said)).toEqual([true, undefined]);
  });
});

test('a claim that begins with a foreign name is compared', async () => {
  expect(await check('São Paulo hosts 12 offices and 3 labs.', 'São Paulo hosts 12 offices.')).toEqual([
    true,
    undefined,
  ]);
});

test.each([['Haben Sie noch weitere Fragen?'], ['Das ist die Liste der Teile:'], ['Ja.']])(
  'a question, or what leads to a list, claims nothing there: %s',
  async (said) => {
    expect(await check('Das ist der Text.', said)).toEqual([null, undefined]);
  },
);

describe('no other language is', () => {
  test.each([
    ['Ursula von der Leyen leads the Commission.'],
    ['Los Angeles and Las Vegas grew by 5 %.'],
    ['Malmö FF beat São Paulo 2-1.'],
    ['Der Spiegel is a magazine.'],
    ["It's 5 o'clock."],
    ['TX-409: 12 kg, 4 bar, 20 μm'],
    ['The DAS und DER keys.'],
    ['Le contrat du Crédit Agricole est résilié.'],
    ['Garantie : 2 ans.'],
    ['The models o1, o3 and o4 of v3.'],
    ['Piña colada contains jalapeño.'],
    ['The Greek letter αβγ is named.'],
    ['Die size: 12 mm. Hat sold.'],
    ['Anna Müller, Zürich, 2024.'],
    ['São Paulo hosts 12 offices.'],
    ['São João da Madeira hosts 12 offices.'],
    ['El Niño raised prices.'],
    ['Los Ángeles hosts 12 offices.'],
    ['Škoda sells Octavia per unit.'],
    ['Mäkinen ja Partners hold 12 shares.'],
    ['Müller und Söhne sells 12 pumps.'],
    ['The café sells smörgås på Fridays.'],
  ])('%s', (text) => {
    expect(isInOtherLanguage(text)).toBe(false);
  });

  test('that of English and French pairs', () => {
    const texts = [...readPairs('fitted'), ...readPairs('held-out')].flatMap(({ source, claim }) => [
      source,
      claim,
    ]);
    expect(texts.filter(isInOtherLanguage)).toEqual([]);
  });
});
