/** How long each answer took, in ms, where so many clients ask one question after the other for so long. */
export async function askInTurn(
  clients: number,
  seconds: number,
  ask: () => Promise<void>,
): Promise<number[]> {
  const taken: number[] = [];
  const until = performance.now() + seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const from = performance.now();
      await ask();
      taken.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return taken;
}
