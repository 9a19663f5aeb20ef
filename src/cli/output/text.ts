import { invalid } from '../../base/fault.ts'
import type { TreeSizeLimits } from '../../client/trees/tree-totals.ts'

/** Strict parsers for sizes and times: a wrong guess could delete a user's cache. */
const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** `10GB`, `1.5GiB`, `4096`. */
export function parseBytes(flag: string, text: string): number {
  const { number, unit } = split(text)
  const scale = Object.hasOwn(BYTES, unit) ? BYTES[unit] : undefined
  const bytes = scale === undefined ? Number.NaN : Math.round(number * scale)
  if (!Number.isSafeInteger(bytes))
    throw invalid(`${flag}: ${quoted(text)} is no size: write a number and B, kB, MB, GB, TB, KiB, MiB, GiB or TiB`)
  return bytes
}

/** `90s`, `12h`, `7d`. The unit is required. */
export function parseSeconds(flag: string, text: string): number {
  const { number, unit } = split(text)
  const scale = Object.hasOwn(SECONDS, unit) ? SECONDS[unit] : undefined
  const seconds = scale === undefined ? Number.NaN : Math.round(number * scale)
  if (!Number.isSafeInteger(seconds))
    throw invalid(
      `${flag}: ${quoted(text)} is no time: write a number and s, m, h, d or w (seconds, minutes, hours, days, weeks)`,
    )
  return seconds
}

/** `1000000`: an integer from 1. */
function parseCount(flag: string, text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid(`${flag}: ${quoted(text)} is not a whole number from 1`)
  return Number(text)
}

/** The limits of a download. */
export const treeLimits = (options: { readonly maxEntries: string; readonly maxBytes: string }): TreeSizeLimits => ({
  mostEntries: parseCount('--max-entries', options.maxEntries),
  mostBytes: parseBytes('--max-bytes', options.maxBytes),
})

function split(text: string): { number: number; unit: string } {
  const [, digits, unit] = /^(\d{1,15}(?:\.\d{1,6})?) ?([A-Za-z]*)$/.exec(text) ?? []
  return { number: digits === undefined ? Number.NaN : Number(digits), unit: unit ?? '' }
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

const SCALES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Three significant digits; --json has exact values. */
export function bytesText(bytes: number): string {
  let value = bytes
  let scale = 0
  while (value >= 999.5 && scale < SCALES.length - 1) {
    value /= 1000
    scale++
  }
  const figures = scale === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(value >= 9.995 ? 1 : 2)
  return `${figures} ${SCALES[scale]}`
}

export function secondsText(seconds: number): string {
  const [unit, scale] = Object.entries(SECONDS)
    .filter(([name]) => name !== 'w')
    .findLast(([, length]) => seconds >= length * 2) ?? ['s', 1]
  return `${Math.floor(seconds / scale)} ${unit}`
}

export const countText = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** Paths stand at the end of a line; one that contains a line break is printed as JSON. */
export const pathText = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)
