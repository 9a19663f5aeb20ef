import { chmodSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { z } from 'zod'
import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import { clearStaleSocket } from '../process/socket-file.ts'
import type { ReloadReport } from './reload.ts'

/**
 * Commands for a running server, on a socket file in its data directory. Only its own user and root can open the file,
 * so callers of the grid cannot reach it.
 */
export interface Control {
  close(): void
}

/** sockaddr_un holds 108 bytes, including the NUL at the end; see unix(7). */
const MOST_PATH_BYTES = 107

const controlPath = (dataDir: string): string => join(dataDir, 'control.sock')

export async function openControl(dataDir: string, reload: () => ReloadReport, log: Log): Promise<Control> {
  const path = controlPath(dataDir)
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) {
    log.warn({ path }, 'path of the data directory is too long for the socket of "windlass reload"; use SIGHUP')
    return { close() {} }
  }
  await clearStaleSocket(path)
  const server = createServer((asked, answer) => {
    const { status, body } = asked.method === 'POST' && asked.url === '/reload' ? answerOf(reload) : NOT_FOUND
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  chmodSync(path, 0o600)
  server.unref()
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const NOT_FOUND = { status: 404, body: { problem: 'there is nothing but POST /reload' } }

function answerOf(reload: () => ReloadReport): { readonly status: number; readonly body: object } {
  try {
    return { status: 200, body: reload() }
  } catch (error) {
    return { status: 400, body: { problem: error instanceof Error ? error.message : String(error) } }
  }
}

const texts = z.array(z.string())
const ANSWER = z.union([
  z.object({ applied: texts, needRestart: texts, files: texts }),
  z.object({ problem: z.string() }),
])

/**
 * Requests a reload from the server with this data directory. Throws `invalid` when it refuses, and `unavailable` when
 * no server runs.
 */
export async function askToReload(dataDir: string): Promise<ReloadReport> {
  const path = controlPath(dataDir)
  const body = await post(path).catch((error: NodeJS.ErrnoException) => {
    const what = `no server answers at ${path} (${error.code ?? error.message}): name its data directory with --data`
    throw new FaultError({ kind: 'unavailable', what }, error)
  })
  const answer = ANSWER.parse(JSON.parse(body))
  if ('problem' in answer) throw new FaultError({ kind: 'invalid', what: `nothing was changed: ${answer.problem}` })
  return answer
}

const post = (socketPath: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/reload', method: 'POST' }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      answer.on('end', () => resolve(body)).on('error', reject)
    })
    asked.on('error', reject).end()
  })
