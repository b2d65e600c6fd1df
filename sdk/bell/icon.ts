const svg = 'http://www.w3.org/2000/svg';

/** An icon of one path, 24 units wide and high, and what changes its path. */
export function createIcon(d: string) {
  const icon = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  const draw = (d: string) => path.setAttribute('d', d);
  icon.setAttribute('viewBox', '0 0 24 24');
  icon.append(path);
  draw(d);
  return { icon, draw };
}
