import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type BuildStep, TOOL_ENV } from './build-step.ts'
import { runProgram } from './run-program.ts'

/** Today's folders of programs and libraries, and their former names (merged /usr). */
const MERGED = ['bin', 'sbin', 'lib', 'lib64']
const DATABASE = 'var/lib/dpkg'

/** The names of the unpacked files, as tar prints them. */
const UNPACK = 'dpkg-deb --fsys-tarfile "$1" | tar -xv --keep-directory-symlink --no-same-owner -C "$2"'
const UNPACK_CONTROL = 'dpkg-deb --ctrl-tarfile "$1" | tar -x --no-same-owner -C "$2"'

/**
 * Unpacks packages into an empty folder, and writes dpkg's database, so that dpkg can configure them as if it had
 * unpacked them. dpkg itself would need root to set the owners of files.
 */
export async function unpackPackages(
  debs: readonly string[],
  root: string,
  { onProgress, signal }: BuildStep,
): Promise<void> {
  for (const name of MERGED) {
    mkdirSync(join(root, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(root, name))
  }
  for (const name of ['info', 'updates', 'triggers', 'alternatives'])
    mkdirSync(join(root, DATABASE, name), { recursive: true })
  writeFileSync(join(root, DATABASE, 'info/format'), '1\n')
  let done = 0
  for (const deb of debs) {
    onProgress('unpacking packages', done++ / debs.length)
    const names = await shell(UNPACK, [deb, root], signal)
    await enter(deb, { root, names: namesOf(names) }, signal)
  }
}

interface Unpacked {
  readonly root: string
  readonly names: readonly string[]
}

/** `./usr/bin/` is `/usr/bin`, and the root itself `/.` */
const namesOf = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line
        .replace(/^\.\/$/, './.')
        .replace(/^\./, '')
        .replace(/\/$/, ''),
    )

async function enter(deb: string, { root, names }: Unpacked, signal: AbortSignal): Promise<void> {
  const control = mkdtempSync(join(root, DATABASE, 'control-'))
  await shell(UNPACK_CONTROL, [deb, control], signal)
  const text = readFileSync(join(control, 'control'), 'utf8').trimEnd()
  const field = (name: string): string | undefined => new RegExp(`^${name}: *(\\S+)`, 'm').exec(text)?.[1]
  const known = field('Multi-Arch') === 'same' ? `${field('Package')}:${field('Architecture')}` : field('Package')
  for (const file of readdirSync(control))
    if (file !== 'control') renameSync(join(control, file), join(root, DATABASE, `info/${known}.${file}`))
  writeFileSync(join(root, DATABASE, `info/${known}.list`), `${names.join('\n')}\n`)
  const [first = '', ...rest] = text.split('\n')
  const entry = [first, 'Status: install ok unpacked', ...rest].join('\n')
  appendFileSync(join(root, DATABASE, 'status'), `${entry}\n\n`)
  rmSync(control, { recursive: true })
}

const shell = async (script: string, words: readonly string[], signal: AbortSignal): Promise<string> =>
  (await runProgram({ argv: ['bash', '-o', 'pipefail', '-c', script, 'bash', ...words], env: TOOL_ENV }, signal)).stdout
