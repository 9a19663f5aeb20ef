import { spawn, spawnSync } from 'node:child_process'

/** `cwltest`, the judge of record, where it is installed. */
export const hasCwltest = (): boolean => spawnSync('cwltest', ['--version']).status === 0

export interface CwltestOrder {
  readonly index: string
  readonly runner: string
  readonly tags: readonly string[]
  readonly ids: readonly string[]
  readonly extra: readonly string[]
  readonly parallel: number
}

/** Lets it judge, and say what it has to say; resolves with its exit code. */
export function judgedByCwltest({ index, runner, tags, ids, extra, parallel }: CwltestOrder): Promise<number> {
  const words = [
    ...['--test', index, '--tool', runner, '-j', `${parallel}`],
    ...(tags.length === 0 ? [] : ['--tags', tags.join(',')]),
    ...(ids.length === 0 ? [] : ['-s', ids.join(',')]),
    ...(extra.length === 0 ? [] : ['--', ...extra]),
  ]
  return new Promise((resolve, reject) => {
    const child = spawn('cwltest', words, { stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
