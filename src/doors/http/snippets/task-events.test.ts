import { expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { HELLO, ran, type SnippetsGrid, snippetsGrid, stage, submitted, turns } from './snippets.fixture.ts'

interface Event {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

/** The events received so far, and the raw text with its comments. */
async function follow(grid: SnippetsGrid, id: string, { lastEventId = '', query = '' } = {}) {
  const headers = { 'last-event-id': lastEventId }
  const response = await grid.app.request(`/api/v1/tasks/${id}/events${query}`, { headers })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  let isOver = false
  const pump = (async () => {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read())
      text += Buffer.from(value ?? []).toString()
    isOver = true
  })()
  await turns()
  return {
    response,
    events: (): Event[] =>
      text
        .split('\n\n')
        .filter((block) => block.startsWith('id:'))
        .map((block) => {
          const [id = '', event = '', data = ''] = block.split('\n').map((line) => line.slice(line.indexOf(':') + 2))
          return { id, event, data: JSON.parse(data) }
        }),
    text: () => text,
    isOver: () => isOver,
    cancel: () => reader.cancel(),
    pump,
  }
}

test('states and output are sent as they happen, and the whole task at the end', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1')
  const id = await submitted(grid)
  const { response, events, pump } = await follow(grid, id)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  worker.start()
  await turns()
  worker.print('Hello, ', 0)
  await turns()
  worker.print('World!\n', 7)
  await turns()
  await worker.finish(ran(stage('Hello, World!\n')))
  await pump
  expect(events().map(({ event, data }) => [event, data.status ?? data.text])).toEqual([
    ['state', 'submitted'],
    ['state', 'executing'],
    ['output', 'Hello, '],
    ['output', 'World!\n'],
    ['end', 'completed'],
  ])
  expect(events().at(-1)?.data).toMatchObject({ taskId: id, result: { output: 'Hello, World!\n' } })
})

test('a client with Last-Event-ID continues after that event', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1')
  const id = await submitted(grid)
  worker.start()
  const first = await follow(grid, id)
  worker.print('one ', 0)
  await turns()
  await first.cancel()
  const last = first.events().at(-1)?.id ?? ''
  worker.print('two', 4)
  const second = await follow(grid, id, { lastEventId: last })
  expect(second.events().map(({ data }) => data.text ?? data.status)).toEqual(['executing', 'two'])
  await second.cancel()
})

test('the events of an ended task are the end only', async () => {
  const grid = await snippetsGrid()
  grid.worker('w1', { answer: () => ran(stage('done')) })
  const id = await submitted(grid)
  await turns()
  const { events, pump } = await follow(grid, id)
  await pump
  expect(events().map(({ event }) => event)).toEqual(['end'])
})

test('a quiet stream gets a comment every 15 s, and a stopping server ends it', async () => {
  const clock = manualClock()
  const grid = await snippetsGrid({ clock })
  grid.worker('w1')
  const { text, isOver, pump } = await follow(grid, await submitted(grid))
  clock.advance(15_000)
  await turns()
  expect(text()).toMatch(/^: still here$/m)
  expect(isOver()).toBe(false)
  grid.ending.abort()
  await pump
})

test('readers that disconnect leave no watch and no timer', async () => {
  const clock = manualClock()
  const grid = await snippetsGrid({ clock })
  grid.worker('w1')
  const id = await submitted(grid)
  const [watches, timers] = [grid.engine.figures().watches, clock.pending()]
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(grid, id)))
  expect(grid.engine.figures().watches).toBe(watches + 20)
  for (const { cancel } of streams) await cancel()
  await turns()
  expect(grid.engine.figures().watches).toBe(watches)
  expect(clock.pending()).toBe(timers)
})

test('a reader that reads nothing for 60 s is disconnected', async () => {
  const clock = manualClock()
  const grid = await snippetsGrid({ clock })
  const worker = grid.worker('w1')
  const id = await submitted(grid)
  const { watches } = grid.engine.figures()
  const response = await grid.app.request(`/api/v1/tasks/${id}/events`)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  for (let i = 0; i < 1000; i++) worker.print('x'.repeat(1000), i * 1000)
  await turns()
  expect(grid.engine.figures().watches).toBe(watches + 1)
  clock.advance(60_000)
  await turns()
  expect(grid.engine.figures().watches).toBe(watches)
})

test('encoding=base64 sends output as base64', async () => {
  const grid = await snippetsGrid()
  const worker = grid.worker('w1')
  const id = await submitted(grid, HELLO)
  worker.start()
  const { events, cancel } = await follow(grid, id, { query: '?encoding=base64' })
  worker.print(Buffer.from([0xff, 0x00]), 0)
  await turns()
  expect(events().at(-1)?.data).toMatchObject({ stream: 'stdout', text: '/wA=' })
  await cancel()
})
