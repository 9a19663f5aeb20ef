import { ran, windlass } from '../first-minutes/windlass-process.ts'

/** Every example of every `--help`, each once, without the explanation behind it. */
export async function helpExamples(cwd: string): Promise<string[]> {
  const found = new Set<string>()
  const visit = async (path: readonly string[]): Promise<void> => {
    const { out } = await windlass([...path, '--help'], { cwd })
    const examples = out.slice(Math.max(0, out.indexOf('\nExamples:\n')))
    for (const [, line = ''] of examples.matchAll(/^ {2}(\S.*)$/gm)) found.add(commandOf(line))
    for (const name of commandsIn(out)) await visit([...path, name])
  }
  await visit([])
  return [...found]
}

/** Two spaces separate a command from its explanation. */
const commandOf = (line: string): string => line.split(/ {2,}/)[0] ?? ''

function commandsIn(help: string): string[] {
  const list = /\nCommands:\n((?: {2}.*\n)+)/.exec(help)?.[1] ?? ''
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
}

/** Runs a shell command. */
export const shell = (line: string, cwd: string, env: Readonly<Record<string, string>>) =>
  ran(['sh', '-c', line], { cwd, env })
