import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runningServer } from '../../testing/running-server.ts'
import { fresh, until, useGrid, windlass } from '../grid.fixture.ts'

useGrid()

const sh = (script: string): string[] => ['run', '--no-cache', '--', '/bin/sh', '-c', script]
const newest = async (): Promise<Record<string, unknown>> =>
  JSON.parse((await windlass(['tasks', '--limit', '1', '--json'])).out).tasks[0]

/** A task that prints, then runs until the test releases it. */
async function running() {
  const gate = fresh()
  const script = `echo begun; echo odd >&2; while [ ! -e ${gate} ]; do sleep 0.02; done; echo done`
  let shown = ''
  const ended = windlass(sh(script), {
    onShown(text) {
      shown += text
    },
  })
  await until(() => shown.includes('begun') && shown.includes('odd'))
  return { id: String((await newest()).task), end: () => writeFileSync(gate, ''), ended }
}

describe('windlass tasks', () => {
  test('a table lists the newest tasks, with their results', async () => {
    await windlass(sh('exit 3'))
    await windlass(['run', '--', 'echo', 'two words'])
    await windlass(['run', '--', 'echo', 'two words'])
    const { code, out } = await windlass(['tasks', '--limit', '3'])
    expect(code).toBe(0)
    const [head, ...lines] = out.trimEnd().split('\n')
    expect(head).toMatch(/^TASK +STATE +AGE +RAN +WORKER +INSTANCE +COMMAND$/)
    expect(lines).toEqual([
      expect.stringMatching(/^1-\w+ +completed, cached +\d.*- +- +- +echo 'two words'$/),
      expect.stringMatching(/^1-\w+ +completed +\d.*w1 +- +echo 'two words'$/),
      expect.stringMatching(/^1-\w+ +exit 3 +\d.*w1 +- +\/bin\/sh -c 'exit 3'$/),
    ])
  })

  test('--json always prints the same fields', async () => {
    await windlass(sh('true'))
    expect(await newest()).toEqual({
      task: expect.stringMatching(/^1-/),
      operation: expect.any(String),
      instance: '',
      origin: 'action',
      state: 'completed',
      attempt: 1,
      worker: 'w1',
      acceptedAt: expect.any(Number),
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      reason: expect.any(String),
      cached: false,
      exitCode: 0,
      command: ['/bin/sh', '-c', 'true'],
      actionDigest: expect.stringMatching(/^[0-9a-f]{64}\/\d+$/),
    })
  })

  test('--state and --instance filter the tasks', async () => {
    const { id, end, ended } = await running()
    expect((await windlass(['tasks', '--state', 'running,queued'])).out).toContain(`\n${id} `)
    expect((await windlass(['tasks', '--state', 'failed'])).out).toBe('no such tasks\n')
    expect((await windlass(['tasks', '--instance', 'nobody'])).out).toBe('no such tasks\n')
    expect((await windlass(['tasks', '--instance', '', '--state', 'running'])).out).toContain(`\n${id} `)
    end()
    await ended
  })

  test('--watch prints the table again until Ctrl+C', async () => {
    let frames = 0
    const { code, out } = await windlass(['tasks', '--watch', '--limit', '1'], {
      isTerminal: true,
      onShown(_, signals) {
        if (++frames === 2) signals.emit('SIGINT', 'SIGINT')
      },
    })
    expect([code, out.split('\u001b[H\u001b[J')]).toEqual([0, ['', expect.any(String), expect.any(String)]])
  })

  test('without tasks or workers, a hint how to start one is printed', async () => {
    const server = await runningServer(fresh())
    const at = { at: server.target }
    expect((await windlass(['tasks'], at)).out).toBe('no tasks yet; "windlass run -- echo hello" makes one\n')
    expect((await windlass(['workers'], at)).out).toContain('no workers; "windlass worker daemon')
    await server.stop()
  })
})

describe('windlass task', () => {
  test('a task is shown by its id, its operation, or the beginning of either', async () => {
    await windlass(sh('exit 3'))
    const { task, operation, actionDigest } = await newest()
    for (const name of [task, operation, `operations/${operation}`]) {
      const { out } = await windlass(['task', String(name)])
      expect(out).toContain(`task       ${task}\noperation  ${operation}\n`)
      expect(out).toContain('state      exit 3\n')
      expect(out).toContain(`action     ${actionDigest}\n`)
      expect(out).toMatch(/\nwhy +completed: /)
    }
    const json = JSON.parse((await windlass(['task', String(task), '--json'])).out)
    expect(json).toMatchObject({ task, exitCode: 3, reasons: [expect.stringContaining('completed')] })
  })

  test('--logs prints the output so far, and with -f until the task ends', async () => {
    const { id, end, ended } = await running()
    expect(await windlass(['task', id, '--logs'])).toMatchObject({ code: 0, out: 'begun\n', err: 'odd\n' })
    expect((await windlass(['task', id, '--why'])).out).toMatch(/^running: on worker w1/)
    const { out, err } = await windlass(['task', id, '--logs', '-f'], {
      onShown(text) {
        if (text.includes('odd')) end()
      },
    })
    expect([out, err]).toEqual(['begun\ndone\n', 'odd\n'])
    expect((await ended).code).toBe(0)
    expect(await windlass(['task', id, '--logs'])).toMatchObject({ out: 'begun\ndone\n', err: 'odd\n' })
  })

  test('--cancel cancels a task once, and reports an ended task', async () => {
    const { id, ended } = await running()
    expect((await windlass(['task', id, '--cancel'])).out).toBe(`cancelled ${id}, which was running\n`)
    expect((await ended).code).toBe(125)
    expect((await windlass(['task', id, '--cancel'])).out).toBe(`${id} was over already: cancelled\n`)
    expect(JSON.parse((await windlass(['task', id, '--cancel', '--json'])).out)).toMatchObject({ cancelled: false })
  })

  test.each([
    [['task', 'nothing'], 1, 'no task is named "nothing", and none begins so\n"windlass tasks" lists those'],
    [['task', 'x', '--logs', '--why'], 2, '--logs, --why and --cancel cannot be used together'],
    [['task', 'x', '--follow'], 2, '--follow needs --logs'],
    [['task', 'x', '--logs', '--json'], 2, '--json cannot be used with --logs'],
    [['tasks', '--state', 'odd'], 2, '--state: odd is none of pending, queued'],
    [['tasks', '--limit', '0'], 2, '--limit: 0 is not a number from 1'],
    [['tasks', '--instance', 'a//b'], 2, '--instance: the name has an empty segment'],
    [['workers', '--drain', 'nobody'], 1, 'no worker is registered as "nobody"'],
    [['workers', '--drain', 'a', '--resume', 'b'], 2, '--drain and --resume: one or the other'],
    [['workers', '--shutdown'], 2, '--shutdown goes with --drain'],
  ])('%j prints an error', async (argv, code, words) => {
    const seen = await windlass(argv)
    expect([seen.code, seen.out]).toEqual([code, ''])
    expect(seen.err.replaceAll('\nwindlass: ', '\n')).toContain(words)
  })

  test.each([['tasks'], ['task', 'x'], ['workers'], ['top']])(
    '%s on a server without execution prints what is needed',
    async (...argv) => {
      const server = await runningServer(fresh(), { CAPABILITIES_EXEC_ENABLED: 'false' })
      const { code, err } = await windlass(argv, { at: server.target })
      await server.stop()
      expect(code).toBe(1)
      expect(err).toContain('the server does not offer this')
      expect(err).toContain('this needs a Windlass server that executes: "windlass up" starts one')
    },
  )

  test.each([['tasks'], ['task', 'x'], ['workers'], ['top']])(
    'no server at the address: %s prints what to do next',
    async (...argv) => {
      const { code, err } = await windlass(argv, { at: 'grpc://127.0.0.1:1' })
      expect(code).toBe(1)
      expect(err).toContain('is a server running there? "windlass server" starts one')
    },
  )
})

describe('windlass workers', () => {
  test('a table lists the workers, with their properties', async () => {
    const { out } = await windlass(['workers'])
    expect(out).toMatch(/^WORKER +STATE +TASKS +HEARD +(WHY +)?OFFERS\nw1 +\w+ +0\/2 +\d\.\ds +.*OSFamily=Linux/)
    const { workers } = JSON.parse((await windlass(['workers', '--json'])).out)
    expect(workers).toMatchObject([{ worker: 'w1', slots: 2, tasks: 0 }])
  })

  test('a drained worker takes no task until it is resumed', async () => {
    expect((await windlass(['workers', '--drain', 'w1'])).out).toBe('w1 gets no new tasks; it has none\n')
    expect(JSON.parse((await windlass(['workers', '--json'])).out).workers[0].state).toBe('DRAINING')
    let isHeld = false
    const run = windlass(['run', '--no-cache', '--', 'echo', 'late'], {
      onShown: (text) => {
        isHeld ||= text.startsWith('windlass: waiting: ')
      },
    })
    await until(() => isHeld)
    expect((await windlass(['workers', '--resume', 'w1'])).out).toBe('w1 takes tasks again\n')
    expect(await run).toMatchObject({ code: 0, out: 'late\n' })
  })
})
