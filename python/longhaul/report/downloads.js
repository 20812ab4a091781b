// The tables in a report are packed. This hands them out unpacked; without it, they come as they are.
(() => {
  if (!('DecompressionStream' in window)) return;
  for (const link of document.querySelectorAll('a[download$=".gz"]')) {
    link.addEventListener('click', async (event) => {
      event.preventDefault();
      const packed = Uint8Array.from(atob(link.href.split(',')[1]), (each) => each.charCodeAt(0));
      const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
      const address = URL.createObjectURL(await new Response(plain).blob());
      const hidden = document.createElement('a');
      hidden.href = address;
      hidden.download = link.download.replace(/\.gz$/, '');
      hidden.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    });
  }
})();
