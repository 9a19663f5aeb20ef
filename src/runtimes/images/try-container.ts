import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PLAIN_COMMAND, type Runtime } from '../run/runtime.ts'

export interface ContainerTrial {
  readonly script: string
  /** The output that it must write. */
  readonly says: string
}

export interface TrialPlace {
  readonly folder: string
  readonly user: { readonly uid: number; readonly gid: number } | undefined
}

const TRIAL_MS = 30_000

/**
 * Runs a container of the default image. Throws with the reason when the image is missing or its container is not
 * isolated as required. Returns a note when the image has no shell. The container writes a file that must appear on
 * this machine, which proves that the engine runs here.
 */
export async function tryContainer(
  runtime: Runtime,
  { folder, user }: TrialPlace,
  { script, says }: ContainerTrial,
): Promise<string | undefined> {
  await mkdir(folder, { recursive: true })
  const place = await realpath(await mkdtemp(join(folder, 'probe-')))
  try {
    await chmod(place, 0o711)
    const [path, tmp] = ['root', 'tmp'].map((name) => join(place, name)) as [string, string]
    for (const each of [path, tmp]) {
      await mkdir(each)
      await chmod(each, 0o755)
      if (user !== undefined) await chown(each, user.uid, user.gid)
    }
    const room = { name: place.slice(place.lastIndexOf('/') + 1), path, tmp }
    const run = {
      command: { ...PLAIN_COMMAND, argv: ['/bin/sh', '-c', `${script}; echo made > made`] },
      room,
      limits: { wallMs: TRIAL_MS },
      hooks: {},
    }
    const end = await runtime.run(run, new AbortController().signal)
    if (end.cause === 'not-started') return `no container was tried, for its image has no shell (${end.reason})`
    const said = Buffer.from(end.stdout.bytes).toString()
    const made = await readFile(join(path, 'made'), 'utf8').catch(() => '')
    if (end.cause === 'ok' && said === says && made === 'made\n') return undefined
    const words = [end.reason, Buffer.from(end.stderr.bytes).toString().trim(), said.trim()].filter(Boolean)
    if (made === '' && end.cause === 'ok')
      words.unshift('what it wrote is not here: its engine may be of another machine')
    throw new Error(`a container was made, but is not as it should be: ${words.join('; ').slice(0, 500)}`)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}
