/** Collects all messages in a list. */
export async function collect(answers: AsyncIterable<Uint8Array>): Promise<Buffer[]> {
  const all: Buffer[] = []
  for await (const answer of answers) all.push(Buffer.from(answer))
  return all
}
