/** Writes the little of ONNX's protobuf form that a test model needs. Source: onnx/onnx.proto3 in onnx/onnx. */

export type Shape = readonly (number | string)[];

export interface Node {
  op: string;
  in: readonly string[];
  out: readonly string[];
  /** Whole numbers, lists of them, or a graph of its own. */
  attributes?: Readonly<Record<string, number | readonly number[] | Graph>>;
}

export interface Value {
  name: string;
  type: 'float' | 'int64' | 'bool';
  shape: Shape;
}

export interface Graph {
  nodes: readonly Node[];
  inputs: readonly Value[];
  outputs: readonly Value[];
  constants: Readonly<
    Record<string, { type: 'float' | 'int64'; dims: readonly number[]; values: readonly number[] }>
  >;
}

const TYPES = { float: 1, int64: 7, bool: 9 } as const;
const ATTRIBUTES = { int: 2, graph: 5, ints: 7 } as const;
const IR_VERSION = 8;
const OPERATORS = 17;

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

function int(field: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function bytes(field: number, content: Buffer | string): Buffer {
  const buffer = Buffer.from(content);
  return Buffer.concat([varint((field << 3) | 2), varint(buffer.length), buffer]);
}

function tensor(name: string, { type, dims, values }: Graph['constants'][string]): Buffer {
  const raw =
    type === 'float'
      ? Buffer.from(new Float32Array(values).buffer)
      : Buffer.from(new BigInt64Array(values.map(BigInt)).buffer);
  return Buffer.concat([
    ...dims.map((dim) => int(1, dim)),
    int(2, TYPES[type]),
    bytes(8, name),
    bytes(9, raw),
  ]);
}

function valueInfo({ name, type, shape }: Value): Buffer {
  const dims = shape.map((dim) => bytes(1, typeof dim === 'number' ? int(1, dim) : bytes(2, dim)));
  const tensorType = Buffer.concat([int(1, TYPES[type]), bytes(2, Buffer.concat(dims))]);
  return Buffer.concat([bytes(1, name), bytes(2, bytes(1, tensorType))]);
}

function attribute(name: string, value: number | readonly number[] | Graph): Buffer {
  if (typeof value === 'number')
    return Buffer.concat([bytes(1, name), int(3, value), int(20, ATTRIBUTES.int)]);
  if ('nodes' in value)
    return Buffer.concat([bytes(1, name), bytes(6, graph(value)), int(20, ATTRIBUTES.graph)]);
  return Buffer.concat([bytes(1, name), ...value.map((one) => int(8, one)), int(20, ATTRIBUTES.ints)]);
}

function node(one: Node): Buffer {
  return Buffer.concat([
    ...one.in.map((name) => bytes(1, name)),
    ...one.out.map((name) => bytes(2, name)),
    bytes(4, one.op),
    ...Object.entries(one.attributes ?? {}).map(([name, value]) => bytes(5, attribute(name, value))),
  ]);
}

function graph({ nodes, inputs, outputs, constants }: Graph): Buffer {
  return Buffer.concat([
    ...nodes.map((one) => bytes(1, node(one))),
    bytes(2, 'test'),
    ...Object.entries(constants).map(([name, constant]) => bytes(5, tensor(name, constant))),
    ...inputs.map((value) => bytes(11, valueInfo(value))),
    ...outputs.map((value) => bytes(12, valueInfo(value))),
  ]);
}

/** The bytes of a model that consists of this graph. */
export function writeOnnx(main: Graph): Buffer {
  return Buffer.concat([int(1, IR_VERSION), bytes(7, graph(main)), bytes(8, int(2, OPERATORS))]);
}
