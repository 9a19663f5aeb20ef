import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { describeWith } from '../../src/testing/require.ts'
import { until } from '../workers/grid.ts'
import { interactiveGrid } from './interactive-grid.ts'

const python = (code: string, more: object = {}) => ({ type: 'start', language: 'python', code, ...more })
const bash = (code: string, more: object = {}) => ({ type: 'start', language: 'bash', code, ...more })

const ASKING = `
name = input('name? ')
while name != 'nobody':
    print(f'Hello, {name}!')
    name = input('name? ')
print('bye')
`

describeWith('bwrap', 'the interactive API', () => {
  test('sends stdin to a Python program and streams its output until it exits', async () => {
    const client = (await interactiveGrid()).client()
    client.say(python(ASKING))
    expect(await client.told('started')).toMatchObject({ taskId: expect.any(String), worker: expect.any(String) })
    await client.reads('name? ')
    client.say({ type: 'stdin', data: 'Ada\n' })
    await client.reads('Hello, Ada!\nname? ')
    client.type('Grace\n')
    await client.reads('Hello, Grace!\nname? ')
    client.say({ type: 'stdin', data: Buffer.from('nobody\n').toString('base64'), encoding: 'base64' })
    await client.reads('bye\n')
    expect(await client.told('exit')).toMatchObject({ status: 'completed', exitCode: 0, cause: 'ok' })
    expect(await client.closed).toBe(1000)
  })

  test('with a pty the program has a terminal with size and echo, and Ctrl-C sends SIGINT', async () => {
    const client = (await interactiveGrid()).client()
    const code = `
import os, signal, sys, time
seen = []
signal.signal(signal.SIGWINCH, lambda *_: seen.append(tuple(os.get_terminal_size())))
print(sys.stdin.isatty(), sys.stdout.isatty(), tuple(os.get_terminal_size()))
try:
    while (120, 50) not in seen: time.sleep(0.01)
    print('now', seen[-1])
    input('? ')
except KeyboardInterrupt:
    print('interrupted')
    try:
        print('ready')
        time.sleep(60)
    except KeyboardInterrupt:
        sys.exit(7)
`
    client.say(python(code, { pty: { rows: 30, columns: 99 } }))
    await client.reads('True True (99, 30)\r\n')
    client.say({ type: 'resize', rows: 50, columns: 120 })
    await client.reads('now (120, 50)\r\n? ')
    client.type('typed')
    await client.reads('typed')
    client.type('\u0003')
    await client.reads('interrupted\r\nready')
    client.say({ type: 'signal', signal: 'SIGINT' })
    expect(await client.told('exit')).toMatchObject({ status: 'failed', exitCode: 7 })
  })

  test("eof ends the program's stdin, with and without a terminal, and output has the requested encoding", async () => {
    const grid = await interactiveGrid()
    for (const pty of [false, true]) {
      const client = grid.client()
      client.say(bash('cat; echo over; printf "\\xc3"; printf "\\xa9" >&2', { pty, encoding: 'binary' }))
      await client.told('started')
      client.type('tea\n')
      await client.reads('tea')
      client.say({ type: 'eof' })
      await client.reads('over')
      expect(await client.told('exit')).toMatchObject({ status: 'completed' })
    }
  })

  test('a program is cancelled after its client has disconnected', async () => {
    const { engine, client: dial } = await interactiveGrid({ graceMs: 10 })
    const client = dial()
    client.say(bash('trap "" HUP; echo up; sleep 100'))
    const { taskId } = await client.told('started')
    await client.reads('up')
    client.socket.terminate()
    await until(async () => (await engine.find(LOCAL_CALLER, String(taskId)))?.state === 'cancelled')
    expect(engine.workers.list()[0]?.leases).toBe(0)
  })

  test('ten concurrent sessions each receive only their own output', async () => {
    const grid = await interactiveGrid()
    const sessions = Array.from({ length: 10 }, async (_, i) => {
      const client = grid.client()
      client.say(bash(`while read -r line; do echo "${i}:$line"; done`, { pty: i % 2 === 0 }))
      for (const word of ['a', 'b', 'c']) {
        client.type(`${word}\n`)
        await client.reads(`${i}:${word}`)
      }
      client.say({ type: 'eof' })
      const exit = await client.told('exit')
      return { exit, printed: client.printed() }
    })
    for (const [i, { exit, printed }] of (await Promise.all(sessions)).entries()) {
      expect(exit).toMatchObject({ exitCode: 0 })
      expect(new Set(printed.match(/\d(?=:)/g))).toEqual(new Set([`${i}`]))
    }
  })

  test('an invalid start message closes with 1008, and a later invalid message is only reported', async () => {
    const grid = await interactiveGrid()
    const wrong: [object, object, number][] = [
      [{ type: 'stdin', data: 'x' }, { code: 40002 }, 1008],
      [{ type: 'start', language: 'python' }, { code: 40002, detail: expect.stringContaining('code') }, 1008],
      [{ type: 'start', language: 'klingon', code: 'x' }, { code: 40004 }, 1008],
      [bash('cat', { pty: { rows: 0, columns: 10 } }), { code: 40002, detail: expect.stringContaining('pty') }, 1008],
      [bash('cat', { idempotencyKey: 'k' }), { code: 40002 }, 1008],
    ]
    for (const [message, error, code] of wrong) {
      const client = grid.client()
      client.say(message)
      expect(await client.told('error')).toMatchObject(error)
      expect(await client.closed).toBe(code)
    }
    const client = grid.client()
    client.say(bash('read -r x; echo "<$x>"'))
    client.say({ type: 'resize', rows: -1, columns: 1e9 })
    expect(await client.told('error')).toMatchObject({ code: 40002 })
    client.say({ type: 'signal', signal: 'SIGSEGV' })
    expect(await client.told('error')).toMatchObject({ code: 40002 })
    client.type('fine\n')
    await client.reads('<fine>')
    expect(await client.told('exit')).toMatchObject({ exitCode: 0 })
  })

  test('a client that sends no start message, or 30 invalid messages, is disconnected with 1008', async () => {
    const grid = await interactiveGrid({ startMs: 50, graceMs: 0 })
    const silent = grid.client()
    expect(await silent.closed).toBe(1008)
    const client = grid.client()
    client.say(bash('sleep 100'))
    for (let i = 0; i < 30; i++) client.say({ type: 'nonsense' })
    expect(await client.closed).toBe(1008)
  })

  test('a program above its output limit ends with the cause output-limit', async () => {
    const client = (await interactiveGrid()).client()
    client.say(bash('yes', { resourceLimit: { output: '1MB' } }))
    expect(await client.told('exit')).toMatchObject({ cause: 'output-limit' })
  })
})
