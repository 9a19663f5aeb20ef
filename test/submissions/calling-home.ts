import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** Settings of a grid whose steps may connect to this test, on the machine's loopback. */
export const CALLS_MAY_LEAVE = {
  WINDLASS_EXECUTION_NETWORK_ALLOW: 'cwl',
  WINDLASS_EXECUTION_NETWORK_MODE: 'host',
} as const

/** A listener to which commands connect when they start, wherever they run, and send their name. */
export interface CallingHome {
  readonly port: number
  readonly heard: readonly string[]
  /** Resolves after this many connections. */
  count(least: number): Promise<void>
}

export async function callingHome(): Promise<CallingHome> {
  const received: string[] = []
  let wake = (): void => {}
  const server = createServer((socket) => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (piece: string) => {
      text += piece
    })
    socket.on('error', () => {})
    socket.on('end', () => {
      received.push(text.trim())
      wake()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return {
    port: (server.address() as AddressInfo).port,
    heard: received,
    async count(least) {
      while (received.length < least)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
  }
}

/** A tool that connects with its name, sleeps, and writes the name into a file. */
export const callingTool = (port: number, seconds: number) => ({
  class: 'CommandLineTool',
  requirements: { NetworkAccess: { networkAccess: true }, WorkReuse: { enableReuse: false } },
  inputs: { name: 'string', before: 'File?' },
  arguments: [
    'bash',
    '-c',
    `exec 3<>/dev/tcp/127.0.0.1/${port}; echo "$1" >&3; exec 3>&-; sleep ${seconds}; echo "$1"`,
    'bash',
    '$(inputs.name)',
  ],
  outputs: { out: 'stdout' },
  stdout: 'out.txt',
})
