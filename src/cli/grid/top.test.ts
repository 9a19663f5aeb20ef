import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FullScreen } from '../../app/process/screen.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import type { GridFigures, TaskView, WorkerInView } from '../../model/grid-view.ts'
import { eventually } from '../../testing/eventually.ts'
import { describeWith, requireTool } from '../../testing/require.ts'
import { target, until, useGrid, windlass } from '../grid.fixture.ts'
import { widthOf } from '../output/table.ts'
import { topFrame } from './top-frame.ts'
import { runTop } from './top-view.ts'

useGrid()

const figures: GridFigures = {
  ...{ now: 1_760_000_002_000, queued: 7, active: 3, slots: 4, usedSlots: 3, accepted: 120, ended: 110 },
  tasks: { queued: 7, running: 2, stopping: 1 },
  workers: { ONLINE: 1, DRAINING: 1 },
  queues: [
    { asksFor: 'OSFamily=linux', queued: 6, active: 3 },
    { asksFor: '', queued: 1, active: 0 },
    { asksFor: 'idle', queued: 0, active: 0 },
  ],
  journalTrouble: '',
}
const before: GridFigures = { ...figures, now: figures.now - 2000, accepted: 100, ended: 109 }
const worker = (id: string, tasks: number): WorkerInView => ({
  ...{ worker: id, state: 'ONLINE', reason: '', slots: 4, tasks, properties: [], cpu: undefined },
  ...{ memoryBytes: undefined, diskBytes: undefined, registeredAt: 0, heardAt: 0, about: {} },
})
const task: TaskView = {
  ...{ task: '1-2f', operation: 'op', instance: 'main', origin: 'action', state: 'running', attempt: 1, worker: 'w1' },
  ...{ acceptedAt: figures.now - 65_000, startedAt: figures.now - 1500, endedAt: undefined, reason: '' },
  ...{ cached: false, exitCode: undefined, command: ['make', '-C', '\u001b[2J名前'], actionDigest: undefined },
}
const moment = { figures, before, tasks: [task], workers: [worker('w1', 1), worker('w2', 3)], server: 'grpc://x:1' }

describe('frame of windlass top', () => {
  test('a frame has figures, queues, workers and tasks', () => {
    expect(topFrame(moment, { columns: 100, rows: 40 })).toEqual([
      'windlass top  grpc://x:1  08:53:22 UTC',
      'tasks    7 queued, 3 active (2 running, 1 stopping)',
      'slots    ███████████████░░░░░ 3 of 4 in use',
      'workers  1 online, 1 draining',
      'rates    10 in, 0.5 out a second; 120 in, 110 out since the start',
      '',
      'QUEUED  ACTIVE  ASKS FOR',
      '6       3       OSFamily=linux',
      '1       0       anything',
      '',
      'WORKER  STATE        TASKS',
      'w2      ONLINE       3/4',
      'w1      ONLINE       1/4',
      '',
      'TASK  STATE    AGE    RAN   WORKER  INSTANCE  COMMAND',
      "1-2f  running  1m05s  1.5s  w1      main      make -C '�[2J名前'",
    ])
  })

  test('a journal error is shown, and no rates in the first frame', () => {
    const troubled = { ...moment, before: undefined, figures: { ...figures, journalTrouble: 'disk full' } }
    const lines = topFrame(troubled, { columns: 100, rows: 40 })
    expect(lines[4]).toBe('rates    - in, - out a second; 120 in, 110 out since the start')
    expect(lines[5]).toBe('journal  takes nothing at present: disk full')
    expect(topFrame({ ...moment, workers: [] }, { columns: 100, rows: 40 })).toContain(
      'no workers: "windlass worker daemon" starts one',
    )
  })

  test.each([
    [80, 24],
    [20, 5],
    [1, 1],
    [0, 0],
    [300, 100],
  ])('a frame fits into %i columns and %i rows', (columns, rows) => {
    const many = Array.from({ length: 200 }, (_, i) => worker(`worker-${i}`, i % 5))
    const lines = topFrame({ ...moment, workers: many, tasks: Array(50).fill(task) }, { columns, rows })
    expect(lines.length).toBeLessThanOrEqual(rows)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns)
  })
})

test('without a terminal one frame is printed, or the figures as JSON', async () => {
  // The worker registers while the first frame may already be drawn.
  await eventually(async () => {
    const { code, out } = await windlass(['top'])
    expect(code).toBe(0)
    expect(out).toMatch(/^windlass top .*\ntasks +0 queued, 0 active\nslots +░{20} 0 of 2 in use\n/)
  })
  expect(JSON.parse((await windlass(['top', '--json'])).out)).toMatchObject({ queued: 0, slots: 2, queues: [] })
})

/** A screen that the test can read. */
function watchedScreen() {
  const drawn: string[] = []
  let listener: Parameters<FullScreen['enter']>[0] | undefined
  const size = { columns: 80, rows: 24 }
  const screen: FullScreen = {
    get columns() {
      return size.columns
    },
    get rows() {
      return size.rows
    },
    enter(given) {
      listener = given
    },
    draw: (text) => void drawn.push(text),
    leave: () => void drawn.push('left'),
  }
  return { screen, drawn, size, key: (text: string) => listener?.key(text), resized: () => listener?.resized() }
}

describe('windlass top on a terminal', () => {
  const signals = new EventEmitter()
  const terminal: Terminal = {
    ...{ env: {}, home: '/', self: ['windlass'], platform: 'test', outIsTerminal: true, errIsTerminal: true },
    signals: Object.assign(signals, { exit: () => {} }),
    out() {},
    err() {},
  }

  test.each([['q'], ['\u0003']])('frames are drawn until the key %j', async (key) => {
    const { screen, drawn, key: press, size, resized } = watchedScreen()
    const ended = runTop({ server: target() }, terminal, screen)
    await until(() => drawn.length >= 2)
    press('x')
    size.columns = 10
    resized()
    expect(drawn.at(-1)?.startsWith('\u001b[Hwindlass …\u001b[K\n')).toBe(true)
    press(key)
    await ended
    expect(drawn.at(-1)).toBe('left')
  })

  test('a signal restores the screen', async () => {
    const { screen, drawn } = watchedScreen()
    const ended = runTop({ server: target() }, terminal, screen)
    await until(() => drawn.length >= 1)
    signals.emit('SIGTERM', 'SIGTERM')
    await ended.catch(() => {})
    expect(drawn.at(-1)).toBe('left')
  })
})

describeWith('script', 'real terminal', () => {
  test('the terminal settings and the screen are restored on exit', async () => {
    const windlass = resolve(import.meta.dirname, '../../../bin/windlass')
    const child = spawn(requireTool('script').command as string, [
      '-qec',
      `stty rows 20 cols 60; ${windlass} top -s ${target()}; stty -a`,
      '/dev/null',
    ])
    let seen = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text
    })
    const gone = new Promise((done) => child.once('close', done))
    await until(() => seen.includes('windlass top  grpc://'))
    child.stdin.write('q')
    await gone
    const [, since = ''] = seen.split('\u001b[?1049h\u001b[?25l')
    const [picture, after] = since.split('\u001b[?25h\u001b[?1049l')
    expect(picture).toContain('slots    ')
    expect(after).toMatch(/ icanon /)
    expect(after).toMatch(/ echo /)
  })
})
