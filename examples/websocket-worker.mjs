// A worker in one file: node websocket-worker.mjs ws://127.0.0.1:8080/api/v1/workers/connect
// It runs code as whoever starts it, with no room around it: a place to start from, and no place for strangers' code.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, freemem, hostname, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'

const [url = 'ws://127.0.0.1:8080/api/v1/workers/connect', clientId = `client_${hostname()}`] = process.argv.slice(2)
const LANGUAGES = { python: ['python3', 'main.py'], javascript: [process.execPath, 'main.js'] }
const running = new Set()

function connect() {
  const socket = new WebSocket(url)
  const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message))
  const heartbeat = () => send({ type: 'heartbeat', clientId, timestamp: new Date().toISOString(), ...whatIsHere() })
  const beat = setInterval(heartbeat, 10_000)
  socket.on('open', heartbeat)
  socket.on('error', (error) => console.error(error.message))
  socket.on('close', () => {
    clearInterval(beat)
    setTimeout(connect, 1000)
  })
  socket.on('message', async (data) => {
    const message = JSON.parse(data)
    const { type, taskId, attempt } = message
    if (type === 'execute') send({ type: 'result', taskId, attempt, ...(await execute(message)) })
    else if (type === 'error') console.error(message.message)
  })
}

const times = () => cpus().flatMap((cpu) => Object.values(cpu.times))
const idle = () => cpus().reduce((sum, cpu) => sum + cpu.times.idle, 0)
let before = { all: 0, idle: 0 }
function cpuUsage() {
  const now = { all: times().reduce((sum, each) => sum + each, 0), idle: idle() }
  const usage = 1 - (now.idle - before.idle) / Math.max(1, now.all - before.all)
  before = now
  return Math.min(1, Math.max(0, usage))
}

const whatIsHere = () => ({
  load: {
    currentTasks: running.size,
    maxConcurrent: 4,
    cpuUsage: cpuUsage(),
    memoryUsage: 1 - freemem() / totalmem(),
  },
  capabilities: Object.keys(LANGUAGES),
})

async function execute({ taskId, language, code, resourceLimit }) {
  running.add(taskId)
  const folder = await mkdtemp(join(tmpdir(), 'windlass-example-'))
  const [program, file] = LANGUAGES[language]
  await writeFile(join(folder, file), code)
  const startedAt = performance.now()
  const child = spawn(program, [file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), Number.parseFloat(resourceLimit.timeout ?? '30') * 1000)
  const whole = async (stream) => Buffer.concat(await stream.toArray()).toString()
  const ended = new Promise((resolve) => child.on('close', resolve).on('error', () => resolve(127)))
  const [output, error, exitCode] = await Promise.all([whole(child.stdout), whole(child.stderr), ended])
  clearTimeout(timer)
  await rm(folder, { recursive: true, force: true })
  running.delete(taskId)
  const executionTime = `${((performance.now() - startedAt) / 1000).toFixed(3)}s`
  return { success: exitCode === 0, output, error, exitCode: exitCode ?? -1, executionTime }
}

connect()
