// A button beside each block of code copies it: of a session the commands, without prompts and output.
document.addEventListener("DOMContentLoaded", () => {
  const commands = (text) => {
    const kept = [];
    let goesOn = false;
    for (const line of text.split("\n")) {
      if (line.startsWith("$ ")) kept.push(line.slice(2));
      else if (goesOn) kept.push(line);
      goesOn = (goesOn || line.startsWith("$ ")) && line.endsWith("\\");
    }
    return kept.join("\n");
  };
  const typed = (text) => text.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line))
    .map((line) => line.slice(4)).join("\n");
  for (const block of document.querySelectorAll("div.highlight")) {
    const pre = block.querySelector("pre");
    if (!pre || !navigator.clipboard) continue;
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const text = pre.textContent.trimEnd();
      await navigator.clipboard.writeText(commands(text) || typed(text) || text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
});
