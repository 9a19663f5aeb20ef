/**
 * A client of the remote cache as an attacker: it runs the victim's step or snippet on its own grid, reads the key and
 * the result there, and writes a forged result under that key to the victim's cache, by gRPC and by HTTP.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { RPC } from '../../src/check/reapi/probe/rpcs.ts'
import { openEnd } from '../../src/engine/tasks/envelopes.ts'
import type { CommandResult } from '../../src/model/command-task.ts'
import { updateActionResultRequest } from '../../src/wire/calls/action-cache.ts'
import { commandResultFromProto, commandResultToProto } from '../../src/wire/tasks/command-task-result.ts'
import { clientOf } from '../cache/in-process.ts'
import { folderOf, shellTool } from '../cwl/documents.ts'
import { cwlHere } from '../cwl/run-here.ts'
import { type CodeServer, codeServer, codeWorker, offering, ownFolder } from '../snippets/code-grid.ts'

const FORGED = Buffer.from('forged\n')

async function gridIn(folder: string): Promise<CodeServer> {
  const server = await codeServer(folder)
  await codeWorker(server, ['bash'])
  await offering(server, ['bash'])
  return server
}

interface Learned {
  readonly hash: string
  readonly size: number
  readonly result: CommandResult
}

/** The key and the result of the only task that the attacker's own grid has run. */
function learn(folder: string): Learned {
  const db = new DatabaseSync(join(folder, 'journal', 'journal.db'), { readOnly: true })
  const rows = db
    .prepare(
      'SELECT action_key AS key, coalesce(ends.result, tasks.result) AS end FROM tasks LEFT JOIN ends USING (key)',
    )
    .all() as { key: string; end: Uint8Array }[]
  db.close()
  const [row] = rows
  const [, hash = '', size = ''] = row?.key.match(/sha256\/([0-9a-f]{64})\/(\d+)$/) ?? []
  const { result } = openEnd(row?.end as Uint8Array)
  return { hash, size: Number(size), result: commandResultFromProto(result as Uint8Array, 'sha256') }
}

/** The task's result with other content: its output files, and everything that it printed. */
function forge({ result }: Learned, digest: { readonly hash: string; readonly sizeBytes: number }): Uint8Array {
  const file = { fn: 'sha256', hash: digest.hash, size: digest.sizeBytes } as const
  const stages = result.stages.map((stage) => ({ ...stage, stdout: { ...stage.stdout, inline: FORGED } }))
  const files = result.outputs.files.map((each) => ({ ...each, digest: file }))
  return commandResultToProto({ ...result, stages, outputs: { ...result.outputs, root: undefined, files } })
}

/** Resolves when both ways of writing to the action cache accepted the forged result. */
async function attack(victim: CodeServer, learned: Learned): Promise<void> {
  const client = clientOf(victim.grpc)
  const blob = client.blobOf(FORGED)
  await client.put(blob)
  const forged = forge(learned, blob.digest)
  const action = { fn: 'sha256', hash: learned.hash, size: learned.size } as const
  await client.api.raw(RPC.updateActionResult.path, updateActionResultRequest('', action, forged))
  const put = await fetch(`${victim.httpUrl}/ac/${learned.hash}`, { method: 'PUT', body: Uint8Array.from(forged) })
  expect(put.status).toBe(200)
}

const runTool = async (server: CodeServer, at: string): Promise<string> => {
  const words = ['run', '--server', server.httpUrl, '--quiet', `--outdir=${at}/out`, join(at, 'tool.cwl')]
  expect(await cwlHere(...words)).toMatchObject({ exitCode: 0, stderr: '' })
  return readFileSync(join(at, 'out/made.txt'), 'utf8')
}

describe('a forged result in the action cache', () => {
  test('is never used as the result of a CWL step', async () => {
    const made = { made: { type: 'File', outputBinding: { glob: 'made.txt' } } }
    const tool = { 'tool.cwl': shellTool('echo true >made.txt', { outputs: made }) }
    const own = ownFolder()
    expect(await runTool(await gridIn(own), folderOf(tool))).toBe('true\n')
    const victim = await gridIn(ownFolder())
    await attack(victim, learn(own))
    expect(await runTool(victim, folderOf(tool))).toBe('true\n')
  })

  test('is never used as the result of a snippet, and true results are cache hits, also after a restart', async () => {
    const snippet = { language: 'bash', code: 'echo true', cache: true }
    const [own, folder] = [ownFolder(), ownFolder()]
    expect((await (await gridIn(own)).client.run(snippet)).result?.output).toBe('true\n')
    const victim = await gridIn(folder)
    await attack(victim, learn(own))
    const reported = [await victim.client.run(snippet), await victim.client.run(snippet)]
    expect(reported.map(({ result, cached }) => [result?.output, cached])).toEqual([
      ['true\n', false],
      ['true\n', true],
    ])
    await victim.stop()
    const again = await (await gridIn(folder)).client.run(snippet)
    expect([again.result?.output, again.cached]).toEqual(['true\n', true])
  })
})
