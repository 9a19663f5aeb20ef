import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { CommandResult, CommandTask } from '../../model/command-task.ts'
import { commandOf, realClock } from '../../runtimes/run/rooms.fixture.ts'
import { unshareBy } from '../../runtimes/unshare/unshare.fixture.ts'
import { languageOf, taskOf, warmBench } from './warm.fixture.ts'

const bench = await warmBench()
afterAll(() => bench[Symbol.asyncDispose]())
const python = (code: string, limits = {}) => taskOf({ language: 'python', files: [code], limits })
const works = bench.works && (await bench.cold(python(''))).stages[0]?.cause === 'ok'
const inRooms = test.runIf(works)
const said = ({ stages }: CommandResult): string => Buffer.from(stages[0]?.stdout.inline ?? []).toString()

inRooms('a warm run finds no file, process or memory of the run before it', async () => {
  await using pool = bench.pool()
  const leaves = `
import builtins, os, sys, time
builtins.secret = sys.secret = os.environ["SECRET"] = "s"
for place in ("/room/left", "/tmp/left", "/dev/shm/left"): open(place, "w").write("s")
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
print("left")`
  const looks = `
import builtins, os, sys
print(hasattr(builtins, "secret"), hasattr(sys, "secret"), "SECRET" in os.environ)
print([os.listdir(place) for place in ("/room", "/tmp", "/dev/shm")], [p for p in os.listdir("/proc") if p.isdigit()])`
  pool.warm.expect([python('')])
  await pool.warm.settled()
  expect(said(await pool.run(python(leaves)))).toBe('left\n')
  await pool.warm.settled()
  expect(said(await pool.run(python(looks)))).toBe("False False False\n[['main.py'], [], []] ['1', '2']\n")
  expect(pool.served()).toBe(2)
})

inRooms('interpreters wait also in rooms without a seccomp filter', async () => {
  await using other = await warmBench(unshareBy)
  if (!other.works) return // a machine that can only create the stronger rooms
  await using pool = other.pool()
  pool.warm.expect([python('')])
  await pool.warm.settled()
  expect(said(await pool.run(python('import os\nprint(os.listdir("."))')))).toBe("['main.py']\n")
  expect(pool.served()).toBe(1)
})

inRooms('a warm run has no open descriptor through which it could forge its exit code', async () => {
  await using pool = bench.pool()
  const forges = `
import os
for fd in range(3, 256):
    try:
        os.write(fd, b'{ "exit-code": 0 }')
        print("wrote to", fd)
    except OSError: pass
os._exit(6)`
  pool.warm.expect([python('')])
  await pool.warm.settled()
  const { stages } = await pool.run(python(forges))
  expect([stages[0]?.exitCode, said({ stages } as CommandResult), pool.served()]).toEqual([6, '', 1])
})

inRooms("the waiting time of an interpreter is not part of the run's wall time", async () => {
  await using pool = bench.pool()
  pool.warm.expect([python('')])
  await pool.warm.settled()
  await new Promise<void>((resolve) => void realClock.after(300, resolve))
  const from = realClock.monotonic()
  const { stages } = await pool.run(python('print(1)'))
  const tookMs = realClock.monotonic() - from
  expect(pool.served()).toBe(1)
  expect(stages[0]?.usage.wallMs).toBeLessThanOrEqual(tookMs)
})

inRooms('concurrent runs have separate rooms, and a run without a waiting interpreter starts cold', async () => {
  await using pool = bench.pool({ most: 2 })
  pool.warm.expect([python('')])
  await pool.warm.settled()
  const meets = `
import os, time
open("/room/here", "w").close()
time.sleep(0.2)
print(sorted(os.listdir("/room")))`
  const all = await Promise.all([1, 2, 3].map(() => pool.run(python(meets))))
  expect(all.map(said)).toEqual(Array(3).fill("['here', 'main.py']\n"))
  expect(pool.served()).toBe(2)
})

inRooms('a task requested twice has a warm interpreter from then on, with the requested limits', async () => {
  await using pool = bench.pool()
  const task = python('import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))', { openFiles: 77 })
  const served: number[] = []
  for (let i = 0; i < 4; i++) {
    expect(said(await pool.run(task))).toBe('(77, 77)\n')
    await pool.warm.settled()
    served.push(pool.served())
  }
  expect(served).toEqual([0, 0, 1, 2])
})

inRooms('no interpreter is started while every slot is taken, or memory is short', async () => {
  let isShort = true
  await using pool = bench.pool({ isShort: () => isShort, slots: 1 })
  pool.warm.expect([python('')])
  await pool.warm.settled()
  expect(pool.warm.waiting).toBe(0)
  isShort = false
  const begun = Promise.withResolvers<void>()
  const running = pool.run(python('import time\ntime.sleep(0.3)'), { started: begun.resolve })
  await begun.promise
  pool.warm.expect([])
  await pool.warm.settled()
  expect(pool.warm.waiting).toBe(0)
  await running
  await pool.warm.settled()
  expect(pool.warm.waiting).toBe(1)
})

inRooms('a room that was taken and not used is deleted with its interpreter', async () => {
  const pool = bench.pool()
  pool.warm.expect([python('')])
  await pool.warm.settled()
  const room = pool.warm.take(python(''))
  expect(room).toBeDefined()
  await room?.[Symbol.asyncDispose]()
  await pool.warm.close()
  expect(await bench.roomsLeft()).toEqual([])
})

inRooms('a room is deleted after its run', async () => {
  const pool = bench.pool()
  pool.warm.expect([python('')])
  await pool.warm.settled()
  expect(said(await pool.run(python('open("left", "w").write("x")\nprint(1)')))).toBe('1\n')
  await pool.warm.close()
  expect([await bench.roomsLeft(), pool.served()]).toEqual([[], 1])
})

inRooms('a run cancelled before its code was written never executes it', async () => {
  await using pool = bench.pool()
  pool.warm.expect([python('')])
  await pool.warm.settled()
  const task = python('')
  const taken = pool.warm.take(task)
  if (taken === undefined) throw new Error('none was waiting')
  await using room = taken
  const [stage] = task.stages
  const command = commandOf([...(stage?.argv ?? [])])
  writeFileSync(join(room.path, 'main.py'), 'open("ran", "w").close()')
  const run = { command: { ...command, env: stage?.env ?? [], platform: task.platform }, room, hooks: {} }
  const end = await room.run({ ...run, limits: stage?.limits ?? {} }, AbortSignal.abort())
  expect([end.cause, existsSync(join(room.path, 'ran'))]).toEqual(['cancelled', false])
})

inRooms('a run with another command starts cold, in the same room', async () => {
  await using pool = bench.pool()
  pool.warm.expect([python('')])
  await pool.warm.settled()
  const task = python('print("hello")')
  const room = pool.warm.take(task)
  if (room === undefined) throw new Error('none was waiting')
  await using open = room
  const command = commandOf(['/bin/sh', '-c', 'ls; echo other'])
  const end = await open.run({ command, room: open, limits: {}, hooks: {} }, new AbortController().signal)
  expect(Buffer.from(end.stdout.bytes).toString()).toBe('other\n')
})

inRooms('an interpreter that exits before it opens its code is not started again', async () => {
  const known = languageOf('python')
  if (known === undefined) throw new Error('there is no python')
  const hasty = { ...known, run: { ...known.run, argv: ['true', '{file}'] } }
  await using pool = bench.pool({ languages: new Map([[hasty.name, hasty]]) })
  const [stage, ...others] = python('').stages
  const task = { ...python(''), stages: [{ ...stage, argv: ['true', 'main.py'] }, ...others] } as CommandTask
  pool.warm.expect([task])
  await pool.warm.settled()
  expect(pool.warm.waiting).toBe(0)
  for (let i = 0; i < 3; i++) expect((await pool.run(task)).stages[0]?.cause).toBe('ok')
  await pool.warm.settled()
  expect([pool.warm.waiting, pool.served()]).toEqual([0, 0])
})
