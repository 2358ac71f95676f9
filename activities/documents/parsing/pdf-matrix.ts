export type Matrix = readonly [number, number, number, number, number, number];

/** The matrix of `inner` seen through `outer` (PDF 1.7, section 8.3.4). */
export function times(outer: Matrix, inner: Matrix): Matrix {
  return [
    outer[0] * inner[0] + outer[2] * inner[1],
    outer[1] * inner[0] + outer[3] * inner[1],
    outer[0] * inner[2] + outer[2] * inner[3],
    outer[1] * inner[2] + outer[3] * inner[3],
    outer[0] * inner[4] + outer[2] * inner[5] + outer[4],
    outer[1] * inner[4] + outer[3] * inner[5] + outer[5],
  ];
}

/** The numbers of an operand, which pdf.js gives in arrays of several kinds. */
export function toMatrix(operand: unknown): Matrix {
  return Array.from(operand as ArrayLike<number>) as unknown as Matrix;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What a rectangle covers, seen through a matrix. */
export function boxThrough(matrix: Matrix, [x0, y0, x1, y1]: readonly [number, number, number, number]): Box {
  const corners = [
    [x0, y0],
    [x0, y1],
    [x1, y0],
    [x1, y1],
  ].map(([x, y]) => times(matrix, [1, 0, 0, 1, x!, y!]));
  const xs = corners.map((corner) => corner[4]);
  const ys = corners.map((corner) => corner[5]);
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}
