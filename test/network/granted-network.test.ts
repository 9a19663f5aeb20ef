import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { CONTROL_PLANE, type GridOnHost, gridOn } from './grid-on-host.ts'
import { GRID_ADDRESS, PEER, twoHosts } from './two-hosts.ts'

/** One line for each address: `ADDRESS open` or `ADDRESS closed`. */
const knocking = (places: readonly (readonly [string, number])[]): string =>
  places
    .map(
      ([address, port]) =>
        `(timeout 3 bash -c '</dev/tcp/${address}/${port}' && echo ${address} open || echo ${address} closed) 2>/dev/null`,
    )
    .join('\n')

const run = async (grid: GridOnHost, code: string) =>
  await grid.ask('POST', '/api/v1/tasks?wait=60s', { language: 'bash', code, network: true })

describeWith(['bwrap', 'slirp4netns', 'ip', 'python3'], 'a task that asks for the network', () => {
  test('does not get it unless the operator grants it, and is told which setting would', {
    timeout: 120_000,
  }, async () => {
    const grid = await gridOn(await twoHosts(), '')
    const { status, json } = await run(grid, knocking([['127.0.0.1', CONTROL_PLANE.http]]))
    expect([status, JSON.stringify(json)]).toEqual([403, expect.stringContaining('execution.network')])
  })

  test('reaches the Internet by a grant, and neither its host nor any private address', {
    timeout: 120_000,
  }, async () => {
    const grid = await gridOn(await twoHosts(), '[execution.network]\nallow = ["rest"]\n')
    const { json } = await run(
      grid,
      knocking([
        [PEER.public, 80],
        ['127.0.0.1', CONTROL_PLANE.http],
        [GRID_ADDRESS, CONTROL_PLANE.grpc],
        [PEER.private, 80],
        [PEER.otherPrivate, 80],
        [PEER.carrier, 80],
        [PEER.metadata, 80],
        ['::ffff:10.77.0.2', 80],
      ]),
    )
    expect(JSON.stringify(json)).toContain(
      [
        `${PEER.public} open`,
        '127.0.0.1 closed',
        `${GRID_ADDRESS} closed`,
        `${PEER.private} closed`,
        `${PEER.otherPrivate} closed`,
        `${PEER.carrier} closed`,
        `${PEER.metadata} closed`,
        '::ffff:10.77.0.2 closed',
      ].join('\\n'),
    )
  })
})
