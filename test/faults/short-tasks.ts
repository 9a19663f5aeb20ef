/**
 * Tasks that leave a trace of every attempt. Each attempt generates a name, writes it into a ledger outside any room,
 * works for a moment, and prints the name: the stdout that a client receives identifies the attempt.
 */
import { readFileSync } from 'node:fs'
import type { Digest } from '../../src/base/digest.ts'
import { digestOf } from '../../src/storage/blobs.fixture.ts'
import type { Random } from '../../src/testing/random-source.ts'
import { sharedFile } from '../../src/testing/shared-file.ts'
import type { PackedBlob } from '../../src/wire/reapi/cas-calls.ts'
import { encoded, nameOf } from '../execution/messages.ts'
import { openFolder } from './open-folder.ts'

const LONGEST_WORK_MS = 300

export interface ShortTask {
  readonly number: number
  readonly action: Digest
  readonly blobs: readonly PackedBlob[]
  /** The names of its attempts, in the order in which they began. */
  tries(): readonly string[]
}

export function shortTasks(count: number, ledger: string, random: Random): ShortTask[] {
  openFolder(ledger)
  return Array.from({ length: count }, (_, number) => shortTask(number, ledger, random.below(LONGEST_WORK_MS)))
}

function shortTask(number: number, ledger: string, workMs: number): ShortTask {
  const page = sharedFile(ledger, `${number}`)
  const script = [
    'read name < /proc/sys/kernel/random/uuid',
    `echo $name >> '${page}'`,
    `sleep ${(workMs / 1000).toFixed(3)}`,
    'echo $name > made.txt',
    'echo $name',
  ].join('; ')
  const command = encoded('Command', {
    arguments: ['/bin/sh', '-c', script],
    environmentVariables: [{ name: 'PATH', value: '/usr/bin:/bin' }],
    outputFiles: ['made.txt'],
  })
  const action = encoded('Action', { commandDigest: nameOf(command), inputRootDigest: nameOf(new Uint8Array()) })
  const blob = (data: Uint8Array): PackedBlob => ({ digest: digestOf(data), compressor: 'identity', data })
  return {
    number,
    action: digestOf(action),
    blobs: [blob(command), blob(action)],
    tries: () => readFileSync(page, 'utf8').split('\n').filter(Boolean),
  }
}
