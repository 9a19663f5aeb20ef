/** From each state, which move leads where. */
type Moves = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>

/** The machine as a Mermaid diagram, for the documentation: printed from the table, so that it cannot be wrong. */
export function machineDiagram(moves: Moves, start: string): string {
  const instanceQueues = ['stateDiagram-v2', `  [*] --> ${start}`]
  for (const [from, ways] of Object.entries(moves)) {
    for (const [move, to] of Object.entries(ways)) instanceQueues.push(`  ${from} --> ${to} : ${move}`)
    if (Object.keys(ways).length === 0) instanceQueues.push(`  ${from} --> [*]`)
  }
  return `${instanceQueues.join('\n')}\n`
}
