import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Run, RunEnd } from '../run/runtime.ts'
import { ipcSettings } from './ipc-limits.ts'
import { plainRun } from './try-room.ts'

const TRIAL = { memoryBytes: 64 << 20, wallMs: 10_000 }

/** Tests whether the kernel can limit System V IPC in rooms: makes a room and reads its limits. */
export async function canLimitIpc(run: (run: Run) => Promise<RunEnd>, folder: string): Promise<boolean> {
  const path = realpathSync(mkdtempSync(join(folder, 'probe-')))
  const settings = ipcSettings(TRIAL.memoryBytes)
  const files = settings.map(({ name }) => `/proc/sys/kernel/${name}`)
  try {
    chmodSync(path, 0o755)
    const room = { name: path.slice(path.lastIndexOf('/') + 1), path, tmp: undefined }
    const end = await run(plainRun({ script: `cat ${files.join(' ')}`, room, limits: TRIAL }))
    const said = Buffer.from(end.stdout.bytes).toString().replaceAll('\t', ' ')
    return end.cause === 'ok' && said === settings.map(({ value }) => `${value}\n`).join('')
  } catch {
    return false // this room could not be made; one without the settings may work
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
