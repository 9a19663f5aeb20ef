import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { describeWith } from '../../src/testing/require.ts'
import { until } from '../workers/grid.ts'
import { dropInGrid } from './drop-in-grid.ts'

interface Message {
  readonly type: string
  readonly stage?: string
  readonly stream?: string
  readonly data?: string
  readonly message?: string
}

async function connected(url: string, path = '/api/v2/connect') {
  const socket = new WebSocket(url.replace('http', 'ws') + path)
  onTestFinished(() => socket.terminate())
  const received: Message[] = []
  socket.on('message', (data) => void received.push(JSON.parse(String(data))))
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)])
  await once(socket, 'open')
  return {
    heard: received,
    closed,
    socket,
    say: (message: object) => socket.send(JSON.stringify(message)),
    text: (stream: string) =>
      received
        .filter((each) => each.stream === stream)
        .map(({ data }) => data)
        .join(''),
    /** Without the output messages. */
    events: () =>
      received.filter(({ type }) => type !== 'data').map(({ type, stage }) => (stage ? `${type} ${stage}` : type)),
  }
}

const init = (language: string, content: string, rest: object = {}) => ({
  type: 'init',
  language,
  version: '*',
  files: [{ content }],
  ...rest,
})

const ADDING = `#include <stdio.h>
int main(void) { int a, b; puts("two numbers?"); fflush(stdout); while (scanf("%d %d", &a, &b) == 2) { printf("%d\\n", a + b); fflush(stdout); } }`

describeWith('bwrap', 'the connect API of Piston', () => {
  test('reports each stage of a compiled program as it begins, and sends input to the run stage', async () => {
    const { url } = await dropInGrid()
    const { say: write, heard: received, text, events, closed } = await connected(url, '/api/v2/piston/connect')
    write(init('c', ADDING))
    await until(() => text('stdout') === 'two numbers?\n')
    expect(events()).toEqual(['runtime', 'stage compile', 'exit compile', 'stage run'])
    write({ type: 'data', stream: 'stdin', data: '19 23\n' })
    await until(() => text('stdout').endsWith('42\n'))
    write({ type: 'eof' })
    expect(await closed).toEqual([4999, 'Job Completed'])
    expect(received.at(-1)).toEqual({ type: 'exit', stage: 'run', code: 0, signal: null, message: null, status: null })
    expect(received[0]).toEqual({ type: 'runtime', language: 'c', version: expect.stringMatching(/^\d+\./) })
  })

  test('does not run a program that fails to compile', async () => {
    const { url } = await dropInGrid()
    const { say: write, heard: received, text, events, closed } = await connected(url)
    write(init('c', 'nonsense'))
    expect(await closed).toEqual([4999, 'Job Completed'])
    expect(events()).toEqual(['runtime', 'stage compile', 'exit compile'])
    expect(text('stderr')).toContain('error')
    expect(received.at(-1)).toMatchObject({ code: 1, status: 'RE' })
  })

  test('forwards signals to the program, and kills it at the output limit', async () => {
    const { url } = await dropInGrid()
    const trapping = await connected(url)
    trapping.say(init('bash', 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done'))
    await until(() => trapping.text('stdout') === 'ready\n')
    trapping.say({ type: 'signal', signal: 'SIGTERM' })
    expect(await trapping.closed).toEqual([4999, 'Job Completed'])
    expect(trapping.text('stdout')).toBe('ready\ncaught\n')
    expect(trapping.heard.at(-1)).toMatchObject({ type: 'exit', stage: 'run', code: 5, signal: null })

    const flooding = await connected(url)
    flooding.say(init('bash', 'yes'))
    expect(await flooding.closed).toEqual([4999, 'Job Completed'])
    expect(flooding.heard.at(-1)).toMatchObject({ type: 'exit', code: null, signal: 'SIGKILL', status: 'OL' })
    expect(flooding.text('stdout').length).toBeLessThan(8 * 1024 * 1024)
  })

  test('ends the program when its client disconnects', async () => {
    const { url, engine } = await dropInGrid()
    const { say: write, socket, text } = await connected(url)
    write(init('bash', 'echo ready; sleep 60'))
    await until(() => text('stdout') === 'ready\n')
    socket.close()
    await until(() => engine.figures().active === 0)
  })

  test("closes with Piston's codes after a message in the wrong state", async () => {
    const { url } = await dropInGrid()
    const closesAfter = async (...messages: (object | string)[]) => {
      const client = await connected(url)
      for (const each of messages) {
        if (typeof each === 'string') client.socket.send(each)
        else client.say(each)
      }
      return { closed: await client.closed, last: client.heard.findLast(({ type }) => type === 'error')?.message }
    }
    const sleeping = init('bash', 'sleep 60')
    expect(await closesAfter(sleeping, sleeping)).toMatchObject({ closed: [4000, 'Already Initialized'] })
    expect(await closesAfter({ type: 'data', stream: 'stdin', data: 'x' })).toMatchObject({
      closed: [4003, 'Not yet initialized'],
    })
    expect(await closesAfter(sleeping, { type: 'data', stream: 'stdout', data: 'x' })).toMatchObject({
      closed: [4004, 'Can only write to stdin'],
    })
    expect(await closesAfter(sleeping, { type: 'signal', signal: 'SIGNONSENSE' })).toMatchObject({
      closed: [4005, 'Invalid signal'],
    })
    expect(await closesAfter(init('cobol', 'x'))).toEqual({
      closed: [4002, 'Notified Error'],
      last: 'cobol-* runtime is unknown',
    })
    expect(await closesAfter('nonsense')).toEqual({
      closed: [4002, 'Notified Error'],
      last: 'Messages must be JSON objects',
    })
  })

  test('closes with 4001 when the client sends no init message', async () => {
    const { url } = await dropInGrid({ initMs: 50 })
    const { closed, heard: received } = await connected(url)
    expect(await closed).toEqual([4001, 'Initialization Timeout'])
    expect(received).toEqual([])
  })
})
