import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { CONTROL_PLANE, type GridOnHost, gridOn } from './grid-on-host.ts'
import { GRID_ADDRESS, PEER, twoHosts } from './two-hosts.ts'

/** Prints one line for each address: `ADDRESS open` or `ADDRESS closed`. */
const knocking = (places: readonly (readonly [string, number])[]): string =>
  places
    .map(
      ([address, port]) =>
        `(timeout 3 bash -c '</dev/tcp/${address}/${port}' && echo ${address} open || echo ${address} closed) 2>/dev/null`,
    )
    .join('\n')

const PLACES = [
  [PEER.public, 80],
  ['127.0.0.1', CONTROL_PLANE.http],
  [GRID_ADDRESS, CONTROL_PLANE.grpc],
  [PEER.private, 80],
  [PEER.otherPrivate, 80],
  [PEER.carrier, 80],
  [PEER.metadata, 80],
  ['::ffff:10.77.0.2', 80],
] as const

const tried = (isOpen: (address: string) => boolean): string =>
  PLACES.map(([address]) => `${address} ${isOpen(address) ? 'open' : 'closed'}\n`).join('')

const run = async (grid: GridOnHost, path = '/api/v1/tasks?wait=60s') =>
  await grid.ask('POST', path, { language: 'bash', code: knocking(PLACES), network: true })

const outputOf = ({ json }: Awaited<ReturnType<typeof run>>): unknown =>
  (json as { data?: { result?: { output?: string } } }).data?.result?.output

/** Runs a CWL tool that tries all addresses, by our own client on the grid's host. */
async function runTool(grid: GridOnHost, document: object) {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-tool-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const tool = { class: 'CommandLineTool', inputs: [], outputs: { out: { type: 'stdout' } }, stdout: 'out.txt' }
  const file = join(folder, 'tool.cwl')
  writeFileSync(file, JSON.stringify({ ...tool, arguments: ['bash', '-c', knocking(PLACES)], ...document }))
  const server = `http://127.0.0.1:${CONTROL_PLANE.http}`
  const { code, all } = await grid.windlass('cwl', 'run', '--server', server, '--outdir', folder, file)
  return { code, all, output: code === 0 ? readFileSync(join(folder, 'out.txt'), 'utf8') : '' }
}

const action = (grid: GridOnHost, property: string) =>
  grid.windlass('run', '--no-cache', '--platform', property, '--', 'bash', '-c', knocking(PLACES))

const NEEDED = { cwlVersion: 'v1.2', requirements: { NetworkAccess: { networkAccess: true } } }

describeWith(
  ['bwrap', 'slirp4netns', 'ip', 'network namespaces of root', 'python3'],
  'a task that requests a network',
  () => {
    test('is refused by every API unless the operator grants it, and the error names the setting', async () => {
      const grid = await gridOn(await twoHosts(), '')
      const { status, json } = await run(grid)
      expect([status, json]).toMatchObject([
        403,
        { code: 40302, detail: expect.stringContaining('[execution.network]') },
      ])
      const judge0 = await grid.ask('POST', '/submissions', { language_id: 46, source_code: 'x', enable_network: true })
      expect(judge0).toMatchObject({
        status: 422,
        json: { enable_network: [expect.stringContaining('[execution.network]')] },
      })
      const bazel = await action(grid, 'dockerNetwork=standard')
      expect([bazel.code, bazel.all]).toEqual([125, expect.stringContaining('allow = ["reapi"]')])
      const needed = await runTool(grid, NEEDED)
      expect([needed.code, needed.all]).toEqual([1, expect.stringContaining('allow = ["cwl"]')])
      // Every v1.0 tool implies a network, and runs without one where none is granted.
      const old = await runTool(grid, { cwlVersion: 'v1.0' })
      expect([old.code, old.output], old.all).toEqual([0, tried(() => false)])
    })

    test('reaches public and listed addresses when granted, but no other private ones nor its host', async () => {
      const settings = `[execution.network]\nallow = ["rest", "cwl@"]\nreach = ["${PEER.otherPrivate}"]\n`
      const grid = await gridOn(await twoHosts(), settings)
      const allowed = tried((address) => address === PEER.public || address === PEER.otherPrivate)
      expect(outputOf(await run(grid))).toBe(allowed)
      for (const document of [NEEDED, { cwlVersion: 'v1.0' }]) {
        const tool = await runTool(grid, document)
        expect([tool.code, tool.output], tool.all).toEqual([0, allowed])
      }
      // The grants are for two of the APIs only.
      expect((await action(grid, 'network=on')).all).toContain('allow = ["reapi"]')
    })
  },
)
