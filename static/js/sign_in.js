// Pressing a demo account fills in the form; the person still signs in.
for (const button of document.querySelectorAll("[data-demo-account]")) {
  button.addEventListener("click", () => {
    document.getElementById("id_username").value = button.dataset.demoAccount;
    document.getElementById("id_password").value = "demo";
    document.querySelector(".gate form .button-primary").focus();
  });
}
