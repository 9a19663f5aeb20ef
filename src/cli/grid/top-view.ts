import type { FullScreen } from '../../app/process/screen.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import type { GridClient } from '../../client/execution/grid-client.ts'
import type { GridFigures } from '../../model/grid-view.ts'
import type { GridOptions } from '../session/grid-flags.ts'
import { type GridSession, jsonLine, withGrid } from '../session/grid-session.ts'
import { listTasks } from './tasks-list.ts'
import { type FrameSize, type GridMoment, topFrame } from './top-frame.ts'

const EVERY_MS = 1_000
const MOST_TASKS = 50
/** Without control sequences, for output to a file. */
const PAPER: FrameSize = { columns: 120, rows: 60 }
const CTRL_C = '\u0003'

export async function runTop(options: GridOptions, terminal: Terminal, screen: FullScreen): Promise<void> {
  await withGrid(options, terminal, async (session) => {
    if (terminal.outIsTerminal && !options.json) return await showTop(session, screen)
    for await (const figures of session.grid.watch(EVERY_MS)) {
      const moment = await momentOf(session.grid, { figures, before: undefined, server: session.target.text })
      terminal.out(options.json ? jsonLine(figures) : `${topFrame(moment, PAPER).join('\n')}\n`)
      return
    }
  })
}

type Begun = Pick<GridMoment, 'figures' | 'before' | 'server'>

async function momentOf(grid: GridClient, begun: Begun): Promise<GridMoment> {
  const query = { states: ['running', 'stopping'] as const, instance: undefined, limit: MOST_TASKS }
  const [tasks, workers] = await Promise.all([listTasks(grid, query), grid.workers()])
  return { ...begun, tasks, workers }
}

/** Runs until q; the terminal is restored in every case. */
async function showTop({ grid, signal, target }: GridSession, screen: FullScreen): Promise<void> {
  let moment: GridMoment | undefined
  const left = Promise.withResolvers<'left'>()
  const draw = (): void => {
    if (moment !== undefined) screen.draw(pictureOf(topFrame(moment, screen)))
  }
  signal.addEventListener('abort', () => left.resolve('left'), { once: true })
  screen.enter({
    key(text) {
      if (text === 'q' || text === 'Q' || text.includes(CTRL_C)) left.resolve('left')
    },
    resized: draw,
  })
  const updates = grid.watch(EVERY_MS)[Symbol.asyncIterator]()
  try {
    let before: GridFigures | undefined
    for (;;) {
      const next = await Promise.race([updates.next(), left.promise])
      if (next === 'left' || next.done) return
      moment = await momentOf(grid, { figures: next.value, before, server: target.text })
      before = next.value
      draw()
    }
  } finally {
    screen.leave()
    void updates.return?.()
  }
}

/** Overwrites line by line: clearing the screen first would flicker. */
const pictureOf = (lines: readonly string[]): string =>
  `\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`
