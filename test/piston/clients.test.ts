/**
 * Three published Piston clients, unmodified. Where a client uses only the public server's address, its requests are
 * redirected here.
 */
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { PistonClient as FullClient } from 'piston-api'
import { PistonClient as FetchClient, NodePistonClient } from 'piston-api-client'
import piston from 'piston-client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { dropInGrid } from './drop-in-grid.ts'

const HELLO = 'print("Hello,", input())'

describeWith('bwrap', 'Piston clients', () => {
  test('piston-client lists runtimes and runs code', async () => {
    const { url } = await dropInGrid()
    const client = piston({ server: url })
    const runtimes = await client.runtimes()
    expect(runtimes.find(({ language }) => language === 'python')).toMatchObject({
      version: expect.stringMatching(/^3\./),
      aliases: expect.arrayContaining(['py']),
    })
    const result = await client.execute('python', HELLO, { stdin: 'you' })
    expect(result).toMatchObject({
      language: 'python',
      run: { stdout: 'Hello, you\n', stderr: '', code: 0, signal: null },
    })
    expect(await client.execute('python', 'import sys; print(sys.argv[1:])')).toMatchObject({
      run: { output: "['1', '2', '3']\n" },
    })
    expect(await client.execute('cobol', 'x', { version: '1' })).toEqual({ message: 'cobol-1 runtime is unknown' })
  })

  test("piston-api-client runs code with both of its transports, and at the public server's paths", async () => {
    const { url } = await dropInGrid()
    for (const Client of [FetchClient, NodePistonClient]) {
      const client = new Client({ server: url })
      const runtimes = await client.runtimes()
      expect(runtimes.success && runtimes.data.map(({ language }) => language)).toEqual(
        expect.arrayContaining(['python', 'bash', 'c']),
      )
      const result = await client.execute({
        language: 'c',
        version: '*',
        files: [{ content: '#include <stdio.h>\nint main(int n, char **a) { return printf("%s\\n", a[1]) - 4; }' }],
        args: ['Hey'],
      })
      expect(result).toMatchObject({
        success: true,
        data: { language: 'c', run: { stdout: 'Hey\n', code: 0 }, compile: { code: 0, stdout: '' } },
      })
    }
    const { fetch } = globalThis
    const led = vi.fn((input: string | URL | Request, init?: RequestInit) =>
      fetch(String(input).replace('https://emkc.org', url), init),
    )
    vi.stubGlobal('fetch', led)
    onTestFinished(() => void vi.unstubAllGlobals())
    const result = await new FetchClient().execute({
      language: 'bash',
      version: '5.x',
      files: [{ content: 'echo $((6*7))' }],
    })
    expect(result).toMatchObject({ success: true, data: { run: { output: '42\n' } } })
    expect(String(led.mock.calls[0]?.[0])).toBe('https://emkc.org/api/v2/piston/execute')
  })

  test("piston-client works at the public server's paths", async () => {
    const { url } = await dropInGrid()
    const { port } = new URL(url)
    // node-fetch uses node:https.
    const asked = vi.spyOn(https, 'request').mockImplementation(((options: http.RequestOptions) =>
      http.request({
        method: options.method,
        path: (options as { path?: string }).path,
        headers: { ...(options.headers as object), host: `127.0.0.1:${port}` },
        host: '127.0.0.1',
        port,
      })) as typeof https.request)
    onTestFinished(() => asked.mockRestore())
    const client = piston()
    expect(await client.execute('bash', 'cat', { stdin: 'typed' })).toMatchObject({ run: { stdout: 'typed\n' } })
    expect(asked).toHaveBeenCalledTimes(2)
  })

  test('piston-api runs code and lists packages, and its changes of packages are refused', async () => {
    const { url } = await dropInGrid()
    const client = new FullClient({ baseUrl: url })
    expect(await client.validateInstance()).toBe(true)
    expect(await client.getRuntimes({ language: 'c' })).toMatchObject([{ language: 'c', runtime: 'gcc' }])
    const packages = await client.getPackages({ language: 'python' })
    expect(packages).toMatchObject([{ language: 'python', installed: true }])
    await expect(client.installRuntime('python')).rejects.toThrow(/cannot be changed here/)

    type Wish = Parameters<FullClient['run']>[0]
    const run = (wish: Partial<Wish>) => client.run(wish as Wish) // its types require fields that have defaults
    const good = await run({ language: 'python', code: HELLO, stdin: 'me' })
    expect(good.run).toMatchObject({ stdout: 'Hello, me\n', code: 0, signal: null, message: null, status: null })
    expect(good.run.wall_time).toBeGreaterThan(0)
    expect(good.run.memory).toBeGreaterThan(0)
    const failing = await run({ language: 'bash', code: 'echo oops >&2; exit 3' })
    expect(failing.run).toMatchObject({
      stderr: 'oops\n',
      code: 3,
      status: 'RE',
      message: 'Exited with error status 3',
    })
    const killed = await run({ language: 'bash', code: 'kill -SEGV $$' })
    expect(killed.run).toMatchObject({ code: null, signal: 'SIGSEGV', status: 'SG' })
    const slow = await run({ language: 'bash', code: 'sleep 20', run_timeout: 300 })
    expect(slow.run).toMatchObject({ code: null, signal: 'SIGKILL', status: 'TO' })
    const uncompiled = await run({ language: 'c', code: 'nonsense' })
    expect(uncompiled.compile).toMatchObject({ status: 'RE', stderr: expect.stringContaining('error') })
    expect(uncompiled.run).toEqual(uncompiled.compile)
    const long = await run({ language: 'python', code: 'print("x" * 3000000)' })
    expect(long.run).toMatchObject({ code: 0, status: null })
    expect(long.run.stdout.length).toBeGreaterThan(500_000)
  })

  test('piston-api sends input to a running program and interrupts one', async () => {
    const { url } = await dropInGrid()
    const client = new FullClient({ baseUrl: url })
    const code = 'name = input("who? ")\nprint("Hello,", name)\nexit(7)'
    const completed = once(client, 'sessionCompleted')
    const id = await client.runInteractive(code, 'python')
    await client.sendInput(id, 'you\n')
    expect(await completed).toEqual([id, 7])
    expect(client.getSession(id)).toMatchObject({
      language: 'python',
      status: 'completed',
      output: 'who? Hello, you\n',
    })

    const interrupted = once(client, 'sessionCompleted')
    // An interpreter that is interrupted while it starts ends in other ways.
    const under = once(client, 'sessionOutput')
    const endless = await client.runInteractive('import time\nprint("up", flush=True)\ntime.sleep(60)', 'python')
    await under
    await client.interruptSession(endless)
    expect(await interrupted).toEqual([endless, null])
  })
})
