import { expect, test, vi } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { fittingOpenFiles, openFilesLimit } from './open-files.ts'

test('connections are limited to half of the open files limit, with a warning', () => {
  const warn = vi.fn()
  const log = { ...silentLog, warn }
  const set = { connections: 10_000, connectionsAbove: 2500 }
  expect(fittingOpenFiles(set, 20_000, log)).toEqual(set)
  expect(fittingOpenFiles(set, undefined, log)).toEqual(set)
  expect(warn).not.toHaveBeenCalled()
  expect(fittingOpenFiles(set, 1024, log)).toEqual({ connections: 512, connectionsAbove: 128 })
  expect(warn).toHaveBeenCalledWith(expect.objectContaining({ open_files: 1024 }), expect.stringContaining('ulimit -n'))
})

test.runIf(process.platform === 'linux')('openFilesLimit is known on Linux', () => {
  expect(openFilesLimit()).toBeGreaterThan(100)
})
