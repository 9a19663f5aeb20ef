/** For each state, the moves that leave it and the states that they lead to. */
type Moves = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>

/** Prints a state table as a Mermaid diagram for the documentation. */
export function machineDiagram(moves: Moves, start: string): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${start}`]
  for (const [from, ways] of Object.entries(moves)) {
    for (const [move, to] of Object.entries(ways)) lines.push(`  ${from} --> ${to} : ${move}`)
    if (Object.keys(ways).length === 0) lines.push(`  ${from} --> [*]`)
  }
  return `${lines.join('\n')}\n`
}
