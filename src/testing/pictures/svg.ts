/** The few shapes that the pictures consist of. Colours follow the reader's light or dark theme. */

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .note { font-size: 12px; fill: #59636e }
  .box { fill: #ffffff; stroke: #59636e }
  .end { fill: #eaeef2; stroke: #59636e }
  .arrow { fill: none; stroke: #59636e; stroke-width: 1.2 }
  .tip { fill: #59636e }
  .ground { fill: #f6f8fa }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .box { fill: #151b23; stroke: #9198a1 }
    .end { fill: #262c36; stroke: #9198a1 }
    .arrow { stroke: #9198a1 }
    .tip { fill: #9198a1 }
    .ground { fill: #0d1117 }
  }`

export interface Size {
  readonly width: number
  readonly height: number
}

export const svg = ({ width, height }: Size, title: string, shapes: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${title}</title>
<style>${STYLE}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>
<rect class="ground" width="${width}" height="${height}"/>
${shapes.join('\n')}
</svg>
`

export interface Box extends Size {
  readonly x: number
  readonly y: number
}

export const box = ({ x, y, width, height }: Box, label: string, kind: 'box' | 'end' = 'box'): string =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="5"/>` +
  text({ x: x + width / 2, y: y + height / 2 + 4.5 }, label)

export interface TextPlace {
  readonly x: number
  readonly y: number
  readonly anchor?: 'start' | 'middle' | 'end'
}

export const text = ({ x, y, anchor = 'middle' }: TextPlace, words: string): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`

export const note = (x: number, y: number, words: string): string =>
  `<text class="note" x="${x}" y="${y}">${words}</text>`

/** A line along a path in SVG's notation; an arrow has a tip at its end. */
export const arrow = (path: string): string => `<path class="arrow" marker-end="url(#tip)" d="${path}"/>`

export const dot = (x: number, y: number): string => `<circle class="tip" cx="${x}" cy="${y}" r="2.5"/>`
