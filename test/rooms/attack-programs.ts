import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { ATTACKS } from './attack-table.ts'

const SOURCES = join(import.meta.dirname, 'attacks')
const FLAGS = ['-O1', '-pthread', '-w']

/** The description of an attack, from its first line. */
export function aboutAttack(file: string): string {
  const lines = readFileSync(join(SOURCES, file), 'utf8').split('\n')
  const line = lines.find((each) => !each.startsWith('#!')) ?? ''
  return line.replace(/^(\/\*|#)\s*|\s*\*\/$/g, '')
}

/** Compiles all attacks into a folder that is deleted at the end. */
export async function attackPrograms(): Promise<Disposable & { put(file: string, room: string): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-attacks-'))
  mkdirSync(join(folder, 'made'))
  const made = (file: string): string => join(folder, 'made', file)
  const compile = async (file: string): Promise<void> => {
    const source = join(SOURCES, file)
    if (!file.endsWith('.c')) return copyFileSync(source, made(file))
    await promisify(execFile)('gcc', [...FLAGS, '-o', made(file), source])
    if (file === 'preload.c') await promisify(execFile)('gcc', [...FLAGS, '-shared', '-fPIC', '-o', made('so'), source])
  }
  const files = ATTACKS.map(({ file }) => file)
  await Promise.all(
    [0, 1].map(async (half) => {
      for (const [i, file] of files.entries()) if (i % 2 === half) await compile(file)
    }),
  )
  return {
    put(file, room) {
      copyFileSync(made(file), join(room, 'attack'))
      chmodSync(join(room, 'attack'), 0o755)
      if (basename(file) === 'preload.c') copyFileSync(made('so'), join(room, 'attack.so'))
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
