/** The floor: a bare loop on node:net for each method, each on its own port, all in one process. */
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { answerWith } from '../../child.ts'
import type { PlanKind } from '../plan.ts'
import { BareConnection } from './bare-connection.ts'
import { DigestTable } from './digest-table.ts'
import { streamWorks } from './stream-works.ts'
import { type Pack, unaryWorks } from './unary-works.ts'

export interface FloorAddress {
  readonly pid: number
  readonly ports: Record<PlanKind, number>
}

answerWith(async ({ folder }: { folder: string }): Promise<FloorAddress> => {
  const tables = { blobs: new DigestTable(), zstd: new DigestTable(), results: new DigestTable() }
  const pack: Pack = { fd: openSync(join(folder, 'pack'), 'w+'), ...tables, end: 0 }
  const works = { ...unaryWorks(pack), ...streamWorks(pack) }
  const ports = {} as Record<PlanKind, number>
  for (const kind of Object.keys(works) as PlanKind[]) {
    const server = createServer((socket) => new BareConnection(socket, works[kind]))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ports[kind] = (server.address() as AddressInfo).port
  }
  return { pid: process.pid, ports }
})
