import { STATUS } from '../../../grpc/status.ts'
import { ensure, same } from '../../unmet.ts'
import { encodedDirectory } from '../probe/actions.ts'
import { digestWith } from '../probe/digest-functions.ts'
import type { Check } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { endsWith, putText, runForStdout } from './read-result.ts'

const ALLOWED = 2
/** In 2001, 2006, 2011 and 2016. */
const YEARS_S = [1_000_000_000, 1_150_000_000, 1_300_000_000, 1_450_000_000]

export const inputChecks = {
  async 'inputs.files'(probe) {
    const { put, blobOf } = probe
    const [one, two, three] = [await putText(probe, 'one'), await putText(probe, 'two'), await putText(probe, 'three')]
    const deep = await put(blobOf(encodedDirectory({ files: [{ name: 'three', digest: three.digest }] })))
    const middle = encodedDirectory({
      files: [{ name: 'two', digest: two.digest }],
      directories: [{ name: 'deep', digest: deep.digest }],
    })
    const { digest } = await put(blobOf(middle))
    const root = { files: [{ name: 'one', digest: one.digest }], directories: [{ name: 'middle', digest }] }
    same('contents', await runForStdout(probe, { script: 'cat one middle/two middle/deep/three', root }), 'onetwothree')
  },
  async 'inputs.empty-file'(probe) {
    const root = { files: [{ name: 'empty', digest: digestWith(probe.fn, new Uint8Array()) }] }
    same(
      'it is',
      await runForStdout(probe, { script: '[ -f empty ] && [ ! -s empty ] && printf empty', root }),
      'empty',
    )
  },
  async 'inputs.executable'(probe) {
    const { digest } = await putText(probe, '#!/bin/sh\nprintf executed\n')
    const root = { files: [{ name: 'tool', digest, isExecutable: true }] }
    same('stdout', await runForStdout(probe, { script: './tool', root }), 'executed')
  },
  async 'inputs.not-executable'(probe) {
    const { digest } = await putText(probe, '#!/bin/sh\nprintf executed\n')
    const root = { files: [{ name: 'text', digest, isExecutable: false }] }
    same(
      'it is',
      await runForStdout(probe, { script: '[ -x text ] && printf executable || printf text', root }),
      'text',
    )
  },
  async 'inputs.symlinks'(probe) {
    const { digest } = await putText(probe, 'content')
    const root = { files: [{ name: 'file', digest }], symlinks: [{ name: 'link', target: 'file' }] }
    same('content', await runForStdout(probe, { script: '[ -h link ] && cat link', root }), 'content')
  },
  async 'inputs.dangling'(probe) {
    const root = { symlinks: [{ name: 'link', target: 'nowhere/at-all' }] }
    same(
      'it is',
      await runForStdout(probe, { script: '[ -h link ] && [ ! -e link ] && printf dangling', root }),
      'dangling',
    )
  },
  async 'inputs.empty-directory'(probe) {
    const { digest } = await probe.put(probe.blobOf(encodedDirectory({})))
    const root = { directories: [{ name: 'empty', digest }] }
    same('it is', await runForStdout(probe, { script: '[ -d empty ] && printf there', root }), 'there')
  },
  async 'inputs.absolute-link'(probe) {
    const { executions, offer } = probe
    const order = { script: `[ -h link ] && printf kept`, root: { symlinks: [{ name: 'link', target: '/etc' }] } }
    if (offer.cache.symlinkAbsolutePathStrategy === ALLOWED) same('link', await runForStdout(probe, order), 'kept')
    else endsWith('it', await executions.try(order), STATUS.invalidArgument)
  },
  async 'inputs.unix-mode'(probe) {
    const { digest } = await putText(probe, 'content')
    const root = { files: [{ name: 'file', digest, nodeProperties: { unixMode: 0o640 } }] }
    const seen = await runForStdout(probe, { script: 'ls -l file', root })
    ensure(seen.startsWith('-rw-r-----'), '-rw-r-----', seen.slice(0, 10))
  },
  async 'inputs.mtime'(probe) {
    const { digest } = await putText(probe, 'content')
    // The order of the times differs from the order of the names and of creation.
    const names = ['c', 'a', 'd', 'b']
    const files = names.map((name, index) => ({
      name,
      digest,
      nodeProperties: { mtime: { seconds: YEARS_S[index] ?? 0 } },
    }))
    const root = { files: files.toSorted((one, other) => (one.name < other.name ? -1 : 1)) }
    const seen = await runForStdout(probe, { script: 'ls -t', root })
    same('from new to old:', seen.trim().split(/\s+/).join(' '), names.toReversed().join(' '))
  },
} satisfies Partial<Record<ExecutionId, Check>>
