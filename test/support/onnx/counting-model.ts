import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeOnnx } from './write-onnx.js';
import type { Graph, Node } from './write-onnx.js';

/**
 * A cross-encoder that can be reckoned by hand, since no weights are to be had: its logit is the number of tokens of
 * the question that occur in the text, less one. What is padding, a special token or unknown counts for nothing.
 */
export interface CountingModel {
  /** 2: the logits of "no" and "yes", whose difference is the above. */
  labels?: number;
  /** Without it the model tells both texts apart by the first `[SEP]`, as no model does: it sees all as text. */
  typeInput?: boolean;
  output?: string;
  /** An input that no one feeds. */
  extraInput?: string;
  /** What three tokens in common do. */
  three?: 'not-a-number' | 'endless';
  /** Steps of doing nothing in each product, to take time. */
  steps?: number;
}

const WORDS = (
  'pump valve pressure oil water engine filter clean the of a is and how to what boiler coupling number ' +
  'eleve ecole cœur noel garcon naive deja vu 東 京 天 気 🙂 0 1 2 3 4 5 6 7 8 9'
).split(' ');
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

const VOCABULARY = [...new Set([...SPECIAL, ...WORDS, ...LETTERS.map((letter) => `##${letter}`)])];
function idOf(token: string): number {
  return VOCABULARY.indexOf(token);
}

const ENDLESS = 2 ** 52;

/** A loop of so many rounds behind which the logits are what they were. */
function waiting(rounds: string, value: string, out: string): Node {
  const float = (name: string) => ({ name, type: 'float' as const, shape: ['b', 1] });
  const flag = (name: string) => ({ name, type: 'bool' as const, shape: [] });
  const body: Graph = {
    nodes: [
      { op: 'Identity', in: ['go'], out: ['go_on'] },
      { op: 'Identity', in: ['carried'], out: ['carried_on'] },
    ],
    inputs: [{ name: 'round', type: 'int64', shape: [] }, flag('go'), float('carried')],
    outputs: [flag('go_on'), float('carried_on')],
    constants: {},
  };
  return { op: 'Loop', in: [rounds, '', value], out: [out], attributes: { body } };
}

/** Which of its logits come out. */
function outputsOf(labels: number, output: string): Node[] {
  if (labels === 1) return [{ op: 'Identity', in: ['logit'], out: [output] }];
  return [
    { op: 'Mul', in: ['logit', 'half'], out: ['yes'] },
    { op: 'Neg', in: ['yes'], out: ['no'] },
    {
      op: 'Concat',
      in: ['no', 'yes', ...new Array<string>(labels - 2).fill('no')],
      out: [output],
      attributes: { axis: 1 },
    },
  ];
}

function graphOf(model: CountingModel): Graph {
  const { labels = 1, typeInput = true, output = 'logits', extraInput, three, steps = 0 } = model;
  const rows = (name: string) => ({ name, type: 'int64' as const, shape: ['b', 's'] });
  const float = (name: string, of: string): Node => ({
    op: 'Cast',
    in: [of],
    out: [name],
    attributes: { to: 1 },
  });
  const scalar = (type: 'float' | 'int64', value: number) => ({ type, dims: [], values: [value] });
  const axes = (...values: number[]) => ({ type: 'int64' as const, dims: [values.length], values });
  const nodes: Node[] = [
    { op: 'Greater', in: ['input_ids', 'last_special'], out: ['is_word'] },
    float('word', 'is_word'),
    float('seen', 'attention_mask'),
    { op: 'Mul', in: ['word', 'seen'], out: ['counted'] },
    typeInput ? float('in_text', 'token_type_ids') : { op: 'Identity', in: ['counted'], out: ['in_text'] },
    { op: 'Sub', in: ['one', typeInput ? 'in_text' : 'nothing'], out: ['in_question'] },
    { op: 'Mul', in: ['counted', 'in_text'], out: ['of_text'] },
    { op: 'Mul', in: ['counted', 'in_question'], out: ['of_question'] },
    { op: 'Unsqueeze', in: ['input_ids', 'axis_2'], out: ['down'] },
    { op: 'Unsqueeze', in: ['input_ids', 'axis_1'], out: ['across'] },
    { op: 'Equal', in: ['down', 'across'], out: ['is_same'] },
    float('same', 'is_same'),
    { op: 'Unsqueeze', in: ['of_text', 'axis_1'], out: ['text_across'] },
    { op: 'Mul', in: ['same', 'text_across'], out: ['hits'] },
    { op: 'ReduceMax', in: ['hits'], out: ['found'], attributes: { axes: [2], keepdims: 0 } },
    { op: 'Mul', in: ['found', 'of_question'], out: ['common'] },
    { op: 'ReduceSum', in: ['common', 'axis_1'], out: ['count'], attributes: { keepdims: 1 } },
    { op: 'Sub', in: ['count', 'one'], out: ['less_one'] },
    ...(three === 'not-a-number'
      ? [
          { op: 'Sub', in: ['two', 'count'], out: ['room'] },
          { op: 'Sqrt', in: ['room'], out: ['plain'] },
        ]
      : [{ op: 'Identity', in: ['less_one'], out: ['plain'] }]),
    { op: 'ReduceMax', in: ['count'], out: ['most'], attributes: { keepdims: 0 } },
    { op: 'Greater', in: ['most', 'two'], out: ['are_three'] },
    { op: 'Where', in: ['are_three', three === 'endless' ? 'endless' : 'steps', 'steps'], out: ['rounds'] },
    waiting('rounds', 'plain', 'logit'),
    ...outputsOf(labels, output),
  ];
  const inputs = ['input_ids', 'attention_mask', ...(typeInput ? ['token_type_ids'] : [])];
  return {
    nodes,
    inputs: [...inputs, ...(extraInput === undefined ? [] : [extraInput])].map(rows),
    outputs: [{ name: output, type: 'float', shape: ['b', labels] }],
    constants: {
      last_special: scalar('int64', SPECIAL.length - 1),
      one: scalar('float', 1),
      two: scalar('float', 2),
      half: scalar('float', 0.5),
      nothing: scalar('float', 0),
      steps: scalar('int64', steps),
      endless: scalar('int64', ENDLESS),
      axis_1: axes(1),
      axis_2: axes(2),
    },
  };
}

/** `tokenizer.json` of a WordPiece tokenizer without cases and accents, as BERT's multilingual one is. */
export function wordPieceTokenizer(): Record<string, unknown> {
  const special = (token: string, type: number) => ({ SpecialToken: { id: token, type_id: type } });
  const sequence = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  const single = [special('[CLS]', 0), sequence('A', 0), special('[SEP]', 0)];
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content) => ({
      id: idOf(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single,
      pair: [...single, sequence('B', 1), special('[SEP]', 1)],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [idOf(token)], tokens: [token] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(VOCABULARY.map((token, id) => [token, id])),
    },
  };
}

/** The bytes of its graph. */
export function countingGraph(model: CountingModel = {}): Buffer {
  return writeOnnx(graphOf(model));
}

/** Puts a model down as a folder in Hugging Face's layout; files that are null are left out. */
export async function writeCountingModel(
  folder: string,
  model: CountingModel = {},
  files: Readonly<Record<string, string | Buffer | object | null>> = {},
): Promise<void> {
  const all = {
    'config.json': { model_type: 'bert', max_position_embeddings: 64, pad_token_id: 0 },
    'tokenizer_config.json': { model_max_length: 64, pad_token: '[PAD]' },
    'tokenizer.json': wordPieceTokenizer(),
    'onnx/model.onnx': countingGraph(model),
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    if (content === null) continue;
    await mkdir(dirname(join(folder, name)), { recursive: true });
    const raw = typeof content === 'string' || Buffer.isBuffer(content);
    await writeFile(join(folder, name), raw ? content : JSON.stringify(content));
  }
}

/** The score that so many tokens in common come to. */
export function scoreOf(common: number): number {
  return 1 / (1 + Math.exp(1 - common));
}
